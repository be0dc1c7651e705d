"""Function symbols as `nm` prints them: the words of libbfd's symbol reader, sorted by address.

- nm's letters: T/t text (global/local), W/w weak (defined/undefined; --defined-only leaves out the
  undefined ones), i an indirect function (STT_GNU_IFUNC). A letter says in which kind
  of section a symbol lies, not that it is a function: `_etext`, labels of hand-written assembly and
  mapping symbols are T or t as well, and V/v (weak objects) are data.
- Of several symbols with one address the order is nm's own (by name in `nm -n`).
- `nm -D` reads .dynsym and appends `@VERSION` or `@@VERSION` to names; `nm` alone reads .symtab and
  keeps the versions that the linker wrote into the names.
- On a file without .symtab nm prints "no symbols" and exits with 0: that is an empty list.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from oracles import tools

FUNCTION_TYPES = frozenset("tTwWi")


class NmSymbol(NamedTuple):
    """Link address, nm's letter, name as stored (mangled)."""

    address: int
    type: str
    name: str


def symbols(
    file: Path, *, dynamic: bool = False, types: frozenset[str] = FUNCTION_TYPES
) -> list[NmSymbol]:
    """The defined symbols of these types, by ascending address."""
    command = ["nm", "-n", "--defined-only", *(["-D"] if dynamic else []), str(file)]
    return parse(tools.run(command), types)


def parse(text: str, types: frozenset[str] = FUNCTION_TYPES) -> list[NmSymbol]:
    """Parse the lines `ADDRESS LETTER NAME`; names may hold spaces (Rust's and Go's do)."""
    found = []
    for line in text.splitlines():
        words = line.split(" ", 2)
        if len(words) == 3 and words[1] in types:
            found.append(NmSymbol(int(words[0], 16), words[1], words[2]))
    return found
