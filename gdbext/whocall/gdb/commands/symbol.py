"""`whocall symbol` in gdb."""

from __future__ import annotations

import gdb

from whocall.core.errors import UsageError
from whocall.gdb.host import console
from whocall.gdb.host.output import style_codes
from whocall.gdb.target.answering import answer, require_process
from whocall.gdb.target.walks import demangle

_WITH_ADDRESS = (gdb.TYPE_CODE_FUNC, gdb.TYPE_CODE_METHOD)


def address_of(expression: str) -> int:
    """The value of an expression; for a function its address."""
    value = console.users_value(expression)
    if value.type.strip_typedefs().code in _WITH_ADDRESS and value.address is not None:
        value = value.address
    try:
        return int(value) & 0xFFFFFFFFFFFFFFFF
    except (gdb.error, ValueError, TypeError) as error:
        raise UsageError(f"{expression} is no address: {error}") from error


def wanted_expressions(line: str) -> list[str]:
    """The expressions on the line, not evaluated; raises UsageError without one."""
    expressions = gdb.string_to_argv(line)
    if not expressions:
        raise UsageError("whocall symbol must be followed by an address or an expression.")
    return expressions


def run(line: str) -> None:
    """Prints what stands at the addresses that the expressions give."""
    expressions = wanted_expressions(line)
    require_process()  # which is complained of first
    wanted = {
        "addresses": [address_of(expression) for expression in expressions],
        "demangle": demangle(),
        "style": style_codes(),
    }
    answer("symbols", wanted)
