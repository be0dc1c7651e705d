"""What `whocall symbol` makes of the names that it is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from whocall.base.errors import Error
from whocall.report.tables.functions import FunctionTable
from whocall.report.tables.wanted_places import (
    MOST_OF_A_NAME,
    PlaceSearch,
    WantedPlace,
    is_short_for,
    pattern_of,
    pattern_of_short,
)


@pytest.mark.parametrize(
    ("asked", "named", "fits"),
    [("main", "main", True), ("main?", "main", True), ("f", "f(int)", True), ("f", "ff", False),
     ("a.b", "axb", False), ("main", "main\n", False), ("f(int)", "f(int)", True),
     ("Shape::[slot 2]?", "Shape::[slot 2]", True), ("[slot 2]?", "ns::Shape::[slot 2]", True),
     ("[slot 2]", "Shape::[slot 20]", False), ("slot 2]", "Shape::[slot 2]", False),
     ("init_array[2]?", "init_array[2]", True), ("registered[cd]?", "registered[cd]", True),
     ("list.sort?", "list.sort", True), ("list.sort?", "list_sort", False),
     ("f<...>", "f<...>", True),
     (r"evil\x1b[1m", "evil\x1b[1m", True), (r"evil\x1b[1m", r"evil\x1b[1m", True),
     (r"a\nb\xff\u202e", "a\nb\udcff\u202e", True), (r"a\nb", "a b", False),
     (r"\U000e0041", "\U000e0041", True), (r"a\nb?", "a\nb", True),
     ("main.(*ledger).total", "main.(*ledger).total", True), ("free@plt", "free@plt", True),
     ("<T as ns::Trait>::call", "<T as ns::Trait>::call", True),
     ("f(int) [clone .cold]", "f(int) [clone .cold]", True),
     ("f()::{lambda(int)#1}::operator()(int) const", "f()::{lambda(int)#1}::operator()(int) const",
      True)],
)  # fmt: skip
def test_names_are_whole(asked: str, named: str, fits: bool) -> None:
    assert bool(re.search(pattern_of(asked), named)) is fits


@pytest.mark.parametrize(
    ("asked", "named", "fits"),
    [("table<...>::find", "table<int, row<int> >::find(int)", True),
     ("table<row<...>>::find?", "table<row<char>>::find(long)", True),
     ("table<...>::find(...)?", "table<row<char>>::find(long, long)", True),
     ("table<...>::find", "table::find", False),
     ("table<...>::find", "table<int, row<int> >::find_all(int)", False),
     ("ns::f<...>(...)", "int ns::f<char, long>(char, long)", True),
     ("ns::f<...>", "int ns::f<char, long>(char, long)", True),
     ("ns::f<...>(...)", "int ns::g<char, long>(char, long)", False),
     ("f(...)::{lambda(...)#1}::operator()", "f(int, long)::{lambda(char, char)#1}::operator()",
      True),
     (r"e\x1bx<...>::f", "e\x1bx<long, long>::f(int)", True)],
)  # fmt: skip
def test_shortened_names_are_found_by_what_they_stand_for(
    asked: str, named: str, fits: bool
) -> None:
    def of(pattern: str) -> list[FunctionTable]:
        return tables([0x1180], named) if re.search(pattern, named) else []

    found = list(PlaceSearch(of).addresses([WantedPlace(None, asked, "no such name")]))
    assert found == ([0x1180] if fits else [])


def test_many_shortened_lists_are_no_long_work() -> None:
    """A regular expression for each would try every place of one with every place of the others."""
    asked, named = "a<...>::" * 40 + "f", "a<b<cc>>::" * 2000 + "g"
    assert not re.search(pattern_of(asked), named)
    wider = pattern_of_short(asked)
    assert wider is not None
    assert "*" not in wider
    assert not is_short_for(asked, named)


def tables(starts: Iterable[int], name: str = "same") -> list[FunctionTable]:
    functions: Any = (SimpleNamespace(start=start, name=name) for start in starts)
    return [cast(FunctionTable, SimpleNamespace(functions=functions))]


def test_a_name_of_a_million_is_no_million_lines() -> None:
    search = PlaceSearch(lambda pattern: tables(range(1_000_000)))
    found = list(search.addresses([WantedPlace(None, "same", "none is called same")]))
    assert found == list(range(MOST_OF_A_NAME))
    with pytest.raises(Error, match="give addresses"):
        search.complain()


def test_a_word_that_is_both_is_the_name_where_there_is_one() -> None:
    wanted = [WantedPlace(0xADD, "add"), WantedPlace(0xBAD, "bad"), WantedPlace(0x16)]
    search = PlaceSearch(lambda pattern: tables([0x1180] if re.search(pattern, "add") else []))
    assert list(search.addresses(wanted)) == [0x1180, 0xBAD, 0x16]
    search.complain()


def test_what_is_not_there_is_told_behind_what_is() -> None:
    search = PlaceSearch(lambda pattern: tables([]))
    wanted = [WantedPlace(None, "one", "no one"), WantedPlace(16), WantedPlace(None, "", "bad")]
    assert list(search.addresses(wanted)) == [16]
    with pytest.raises(Error, match="no one; bad"):
        search.complain()
