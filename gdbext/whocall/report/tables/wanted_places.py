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


class WantedPlace(NamedTuple):
    """An address, or a name; `refused` is the complaint where there is nothing of that name."""

    address: int | None
    name: str = ""
    refused: str = ""


def pattern_of(name: str) -> str:
    """A regular expression for a function by its name: whole, with or without the parameters and
    the mark of inferred names. `sub_1180`, `total_of?`, `ns::call`.
    """
    whole = name[: -len(INFERRED_MARK)] if name.endswith(INFERRED_MARK) else name
    return rf"^{re.escape(whole)}(\(|\Z)"


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
            if place.address is not None:
                yield place.address
                continue
            found = starts(self._tables_of(pattern_of(place.name))) if place.name else []
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
