"""`whocall symbol` in gdb."""

from __future__ import annotations

import gdb

from whocall.core.errors import UsageError
from whocall.core.module_warnings import warnings_on
from whocall.gdb.host import console
from whocall.gdb.host.output import current_style, warn, write
from whocall.gdb.target.inferior import current
from whocall.gdb.target.walks import demangle
from whocall.report.tables.places import symbol_lines

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
    now = current()
    addresses = [now.image.wrapped(address_of(expression)) for expression in expressions]
    warn(warnings_on(now.image, addresses))
    write(symbol_lines(now.image, addresses, demangle(), current_style()))
