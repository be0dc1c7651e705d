r"""Lines of gdb's language, made of a command and typed arguments.

gdb runs each line of what it is given as a command of its own, and every command parses its
arguments in its own way: most take words that may be quoted, some the rest of the line as it
stands. `core-file` takes the rest up to gdb 15, and words from 16 on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Union

from whocall.base.errors import Error
from whocall.base.safe_paths import AcceptedPath, accepted, refused


class GdbLine(str):
    """One line that does what its command does, whatever its arguments are called."""

    __slots__ = ()


class Number(int):
    """A number that gdb reads in decimal only, such as an inferior's."""


class PlainName(str):
    """A name of letters, digits, "-" and "_", such as a setting's."""

    __slots__ = ()


class Pattern(str):
    """A regular expression of gdb's that stands for one name."""

    __slots__ = ()


# Integers are addresses and sizes, written in hex.
Argument = Union[int, Number, PlainName, Pattern, AcceptedPath]

_WORDS_CORE = 16  # the first release whose `core-file` takes words
_TAKES_REST = ("source", "set sysroot", "set solib-search-path")
_TAKES_WORDS = ("file", "symbol-file -o", "symbol-file", "add-symbol-file -o", "remove-symbol-file")
_TARGET = "target:"  # before files that gdb reads through its target


def word(text: str) -> PlainName:
    """`text` where it is a name."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+", text):
        raise Error(f"{text!r} is no name of gdb's")
    return PlainName(text)


def named(path: str) -> AcceptedPath:
    """A path for gdb, which takes UTF-8 only. Raises Error."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise refused(path, "has a name that is not UTF-8, which gdb cannot be given") from None
    if path.startswith(f"{_TARGET}/"):
        return AcceptedPath(_TARGET + accepted(path[len(_TARGET) :]))
    return accepted(path)


def only(path: str) -> Pattern:
    """Matches the library `path`, in basic regular expressions: "+" stands for itself.

    Of a name with control characters it matches what begins like it.
    """
    begin = re.split(r"[\x00-\x1f\x7f-\x9f]", path, maxsplit=1)[0]
    escaped = re.sub(r"([\\.*^$\[\]])", r"\\\1", begin)
    # gdb takes blanks at the end of a line for none.
    return Pattern(f"^{escaped}$" if begin == path else f"^{escaped.rstrip()}")


def _quoted(path: AcceptedPath) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _rest(path: AcceptedPath) -> str:
    if path != path.rstrip():
        raise refused(path, "ends in a blank, which gdb leaves out")
    return path


def _written(command: str, value: Argument, version: int) -> str:
    if isinstance(value, Number):
        return str(int(value))
    if isinstance(value, int):
        return f"{value:#x}"
    if not isinstance(value, AcceptedPath):
        return value
    if command in _TAKES_REST:
        return _rest(value)
    if command == "core-file":
        return _rest(value) if version < _WORDS_CORE else _quoted(value)
    assert command in _TAKES_WORDS, command
    return _quoted(value)


def line(command: str, *arguments: Argument, version: int = 0) -> GdbLine:
    """`command` with its arguments; it stands in the source as it is written here.

    `version` is gdb's major one. Raises Error for a path that the command cannot be given.
    """
    words = [command, *(_written(command, value, version) for value in arguments)]
    return GdbLine(" ".join(words))


def folders(command: str, paths: Sequence[str]) -> GdbLine:
    """`command` with a list of folders, parted by colons. Raises Error."""
    for path in paths:
        if ":" in path:
            raise refused(path, "has a colon in its name, at which gdb parts folders")
    return GdbLine(f"{command} {':'.join(_rest(named(path)) for path in paths)}")


def python_call(function: str, *values: object) -> GdbLine:
    """Calls a function in gdb's Python; `values` are what can be written as it is read."""
    return GdbLine(f"python {function}({', '.join(map(ascii, values))})")
