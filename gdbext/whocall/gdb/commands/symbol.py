"""`whocall symbol` in gdb."""

from __future__ import annotations

import re

import gdb

from whocall.base.errors import UsageError
from whocall.gdb.host import console
from whocall.gdb.host.output import screen_width, style_codes
from whocall.gdb.host.settings import filename_display
from whocall.gdb.target.answering import answer, answer_of_files, file_alone
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


_OPENING, _CLOSING = "(<[", ")>]"


def _depth(words: str) -> int:
    return sum(words.count(each) for each in _OPENING) - sum(map(words.count, _CLOSING))


def wanted_expressions(line: str) -> list[str]:
    """The expressions on the line, not evaluated; raises UsageError without one. Names of C++ have
    spaces in their brackets and behind them: `table<key, value<int> >::find(char const*) const`.
    """
    expressions: list[str] = []
    for word in gdb.string_to_argv(line):
        goes_on = word == "const" or word.startswith("[clone")
        if expressions and (goes_on or _depth(expressions[-1]) > 0):
            expressions[-1] += f" {word}"
        else:
            expressions.append(word)
    if not expressions:
        raise UsageError("whocall symbol must be followed by an address or an expression.")
    return expressions


# Each character can be read in one way: a name out of a file may have any number of any of them.
_OPERATOR = r"operator[^\w\s(]+(?=[\w\s(]|$)"
_SIGNATURE = re.compile(
    r"(?!(?:size|align)of\b)(?=[A-Za-z_~]|\(anonymous namespace\))"
    rf"(?:{_OPERATOR}|(?!{_OPERATOR})[\w:.<>,~@$&*()#{{}} ])*\([\w:.<>,&*() \[\]]*\)"
    r"(?: const)?(?: \[clone [\w.]+\])*\??$"
)


def wanted_place(expression: str) -> tuple[int | None, str, str]:
    """As WantedPlace: what gdb knows nothing of may be one of our names, `Shape::[slot 2]?`. One
    with its parameters, as backtraces have it, gdb is not asked about: it would call the function.
    """
    if _SIGNATURE.match(expression):
        return None, expression, f'No function is called "{expression}" here'
    try:
        return address_of(expression), "", ""
    except (gdb.error, UsageError) as error:
        return None, expression, str(error).rstrip(".")


def run(line: str) -> None:
    """Prints what stands at the addresses that the expressions give, and at functions by our names;
    without a process in the program's file.
    """
    expressions = wanted_expressions(line)
    file = file_alone()
    wanted = {
        "places": [wanted_place(expression) for expression in expressions],
        "demangle": demangle(),
        "style": style_codes(),
        "files": filename_display(),
        "columns": screen_width(),
    }
    if file is None:
        answer("tables.symbols", wanted)
    else:
        answer_of_files("tables.symbols_of_file", {**wanted, "file": file})


def run_elsewhere(line: str) -> None:
    """The same by another Python."""
    from whocall.gdb.commands.elsewhere import of_core_or_file, screen_arguments, show
    from whocall.gdb.target import inferior
    from whocall.gdb.target.backend_arguments import core_and_program

    expressions = wanted_expressions(line)
    if inferior.file_alone() is None:
        core_and_program()  # complains first
    words_wanted = []
    for address, function, _ in map(wanted_place, expressions):
        words_wanted.append(function if address is None else f"{address:#x}")
    show("symbol", [*screen_arguments(), *of_core_or_file(*words_wanted)])
