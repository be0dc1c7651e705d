"""What `whocall symbol` is asked for: addresses, and functions by the names that outputs show."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from whocall.base.errors import Error
from whocall.base.model import INFERRED_MARK
from whocall.base.printable import printable
from whocall.report.tables.functions import Function, FunctionTable

MOST_OF_A_NAME = 64  # that are shown: a file may give a million functions one long name


# What outputs have in place of a character that cannot be seen (`base/printable.py`).
_ESCAPED = re.compile(r"(\\(?:[nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U00(?:0[0-9a-f]|10)[0-9a-f]{4}))")
_LEFT_OUT = re.compile(r"<\.\.\.>|\(\.\.\.\)")
_SHORT = {"n": "\n", "r": "\r", "t": "\t"}


class WantedPlace(NamedTuple):
    """An address, or a name; `refused` is the complaint where there is nothing of that name. With
    both, the name is taken where there is one: `add` is a number, too.
    """

    address: int | None
    name: str = ""
    refused: str = ""


def _meant(part: str) -> str:
    """A regular expression for a part of a name; it may stand in a name to the letter as well."""
    if not _ESCAPED.fullmatch(part):
        return re.escape(part)
    kind, digits = part[1:2], part[2:]
    code = ord(_SHORT[kind]) if kind in _SHORT else int(digits, 16)
    if kind == "x" and code >= 0x80:
        code += 0xDC00  # as "surrogateescape" has it
    return f"(?:{re.escape(part)}|{re.escape(chr(code))})"


def _without_mark(name: str) -> str:
    return name[: -len(INFERRED_MARK)] if name.endswith(INFERRED_MARK) else name


def pattern_of(name: str) -> str:
    """A regular expression for a function by its name: whole, with or without the parameters and
    the mark of inferred names, as outputs show it. `sub_1180`, `total_of?`, `ns::call`,
    `Shape::[slot 2]?`; of `[slot 2]` alone it is those of all classes.
    """
    whole = _without_mark(name)
    begin = "(^|::)" if whole.startswith("[") else "^"
    return begin + "".join(map(_meant, _ESCAPED.split(whole))) + r"(\(|\Z)"


def pattern_of_short(name: str) -> str | None:
    """A regular expression for what a name may be short for, and for more: what of it is whole. A
    miss where no name is shortened to it.
    """
    whole = _without_mark(name)
    longest = max(_LEFT_OUT.split(whole), key=len)
    may_be = "<" in whole or "(" in whole
    return "".join(map(_meant, _ESCAPED.split(longest))) if may_be and longest else None


def is_short_for(shown: str, name: str) -> bool:
    """Whether lines that have no room for a function's name may show it so, with or without the
    parameters: `table<...>::find` for `table<int>::find(int)`.
    """
    from whocall.base.native_module import native

    whole = _without_mark(shown)
    forms = (printable(native.short_form(name, form)) for form in range(native.NAME_FORMS))
    return any(form == whole or form.startswith(f"{whole}(") for form in forms)


def starts(functions: Iterable[Function]) -> list[int]:
    """Where they begin; of one more than MOST_OF_A_NAME at the most."""
    return sorted({function.start for function in islice(functions, MOST_OF_A_NAME + 1)})


class PlaceSearch:
    """Looks for what is wanted, and holds the complaints on what is not there until the end: one
    wrong word does not hide the others.
    """

    def __init__(self, tables_of: Callable[[str], Iterable[FunctionTable]]) -> None:
        self._tables_of = tables_of
        self.complaints: list[str] = []

    def addresses(self, wanted: Iterable[WantedPlace]) -> Iterator[int]:
        """Of all that is found, in the order in which it is wanted."""
        for place in wanted:
            found = self._starts(place.name) if place.name else []
            if not found and place.address is not None:
                yield place.address
                continue
            if not found:
                self.complaints.append(place.refused)
            if len(found) > MOST_OF_A_NAME:
                self.complaints.append(
                    f"more than {MOST_OF_A_NAME} functions are called {place.name}: give addresses"
                )
            yield from found[:MOST_OF_A_NAME]

    def _starts(self, name: str) -> list[int]:
        found = starts(self._functions(pattern_of(name)))
        wider = None if found else pattern_of_short(name)
        if wider is None:
            return found
        return starts(each for each in self._functions(wider) if is_short_for(name, each.name))

    def _functions(self, pattern: str) -> Iterator[Function]:
        return (function for table in self._tables_of(pattern) for function in table.functions)

    def complain(self) -> None:
        """Raises Error where something was not there."""
        if self.complaints:
            raise Error("; ".join(self.complaints))
