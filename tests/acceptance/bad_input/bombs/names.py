"""Bombs that are names of functions."""

from __future__ import annotations

from pathlib import Path

from acceptance.bad_input.bombs import Command, bomb
from acceptance.bad_input.bombs.elf_image import CODE
from acceptance.bad_input.bombs.programs import with_symbols

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _reference(number: int) -> str:
    """Itanium's, to the substitution of a number."""
    digits = ""
    rest = number - 1
    while rest >= 0:
        digits = _DIGITS[rest % 36] + digits
        rest = rest // 36 - 1 if rest >= 36 else -1
    return f"S{digits}_"


def _doubled(times: int, pair: int) -> str:
    """p<int, int>, and types of which each has the one before it twice."""
    types = ["1pIiiE"]
    for at in range(times):
        before = _reference(pair + 1 + at)
        types.append(f"{_reference(pair)}I{before}{before}E")
    return "".join(types)


def _named(folder: Path, *names: str, copies: int = 1) -> list[Command]:
    strings = b"\0"
    symbols = []
    for name in names:
        for _ in range(copies):
            symbols.append((len(strings), CODE + len(symbols), 1))
        strings += name.encode() + b"\0"
    path = str(with_symbols(symbols, strings).write(folder / "program"))
    return [["functions", path], ["functions", "--json", path, "f"], ["symbol", path, hex(CODE)]]


@bomb("name")
def doubled_types(folder: Path) -> list[Command]:
    """A C++ symbol of 40 doublings."""
    return _named(folder, "_Z1f" + _doubled(30, 0))


@bomb("name")
def searched_packs(folder: Path) -> list[Command]:
    """Doublings that are searched for packs before a letter is written."""
    return _named(folder, "_Z1fDp1qI" + _doubled(40, 1) + "E")


@bomb("name")
def doublings_below_the_limit(folder: Path) -> list[Command]:
    """2,000 names that each become almost as long as they may."""
    return _named(folder, "_Z1f" + _doubled(10, 0), copies=2000)


@bomb("name")
def counted_lifetimes(folder: Path) -> list[Command]:
    """A name of Rust with a billion lifetimes that nobody is shown."""
    return _named(folder, "_RNvMC3fooFGzzzzzz_Eu3bar", "_RNvMC3fooFGzzzzzzzzzz_Eu3bar")


@bomb("name")
def deep_types_of_d(folder: Path) -> list[Command]:
    """A name of D of 3 MB, as deep, and others of what is handed to a demangler."""
    deep = "_D3foo3barF" + "P" * 60_000 + "iZv"
    return _named(folder, "_D3foo" + "P" * 3_000_000 + "i", deep)


@bomb("name")
def deep_types(folder: Path) -> list[Command]:
    """Names of C++ and of Rust that are pointers to pointers."""
    return _named(folder, "_Z1f" + "P" * 60_000 + "i", "_RINvC3foo3bar" + "R" * 60_000 + "uE")
