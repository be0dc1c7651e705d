"""What `whocall symbol` is asked for: addresses, and functions by the names that outputs show."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from whocall.core.errors import Error
from whocall.core.model import INFERRED_MARK
from whocall.report.tables.functions import FunctionTable

MOST_OF_A_NAME = 64  # that are shown: a file may give a million functions one long name


# What names have in outputs in place of their own: arguments of templates that are left out where
# lines are short, and characters that cannot be seen (`core/printable.py`).
_INSTEAD = re.compile(
    r"(<\.\.\.>|\\(?:[nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U00(?:0[0-9a-f]|10)[0-9a-f]{4}))"
)
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
    kind, digits = part[1:2], part[2:]
    if not _INSTEAD.fullmatch(part):
        return re.escape(part)
    if part[0] == "<":
        return r"<[\s\S]*>"
    code = ord(_SHORT[kind]) if kind in _SHORT else int(digits, 16)
    if kind == "x" and code >= 0x80:
        code += 0xDC00  # as "surrogateescape" has it
    return f"(?:{re.escape(part)}|{re.escape(chr(code))})"


def pattern_of(name: str) -> str:
    """A regular expression for a function by its name: whole, with or without the parameters and
    the mark of inferred names, as outputs show it. `sub_1180`, `total_of?`, `ns::call`,
    `Shape::[slot 2]?`; of `[slot 2]` alone it is those of all classes.
    """
    whole = name[: -len(INFERRED_MARK)] if name.endswith(INFERRED_MARK) else name
    begin = "(^|::)" if whole.startswith("[") else "^"
    return begin + "".join(map(_meant, _INSTEAD.split(whole))) + r"(\(|\Z)"


def starts(tables: Iterable[FunctionTable]) -> list[int]:
    """Where the functions of the tables begin; one more than MOST_OF_A_NAME at the most."""
    functions = (function for table in tables for function in table.functions)
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
            found = starts(self._tables_of(pattern_of(place.name))) if place.name else []
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

    def complain(self) -> None:
        """Raises Error where something was not there."""
        if self.complaints:
            raise Error("; ".join(self.complaints))
