"""Function tables as sets, and what of a file is code: for comparison with libbfd's tools."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path

from oracles import unstripped
from oracles.tools import run

from whocall.base.native_module import native

Names = set[tuple[int, str]]

_LABEL = re.compile(r"^([0-9a-f]+) <(.*)>:$", re.MULTILINE)


@functools.cache
def make_unstripped() -> tuple[Path, ...]:
    """The unstripped files, which nobody changes."""
    made = unstripped.unstripped_files()
    assert len(made) >= 12, "install the development packages of oracles.unstripped"
    return tuple(made)


def table_of(path: Path) -> native.SymbolTable:
    """The file's functions without PLT slots, which are no symbols of the file."""
    return native.open_symbols(str(path), with_plt=False)


def names_of(table: native.SymbolTable) -> Names:
    """(address, name) of every function that has a name."""
    return {(each.start, each.name) for each in each_of(table) if each.named}


def each_of(table: native.SymbolTable) -> Iterator[native.Symbol]:
    """All symbols in the table's order."""
    return (table[index] for index in range(len(table)))


def code_sections(path: Path) -> set[str]:
    """Names of the sections that objdump flags CODE."""
    text = run(["objdump", "-h", "-w", str(path)])
    return {line.split()[1] for line in text.splitlines() if re.search(r"\bCODE\b", line)}


def plain(name: str) -> str:
    """Without the symbol version that a linker wrote into it."""
    return name.partition("@")[0] or name


def plt_labels(path: Path) -> Names:
    """What objdump calls the PLT slots; `puts@plt-0x10` is the part before the first slot."""
    sections = sorted(name for name in code_sections(path) if "plt" in name)
    if not sections:
        return set()
    chosen = [word for name in sections for word in ("-j", name)]
    text = run(["objdump", "-d", "--no-show-raw-insn", *chosen, str(path)])
    return {
        (int(label[1], 16), label[2])
        for label in _LABEL.finditer(text)
        if label[2].endswith("@plt")
    }
