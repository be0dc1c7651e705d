"""Symbols with size and section as `objdump -t` and `-T` print them: libbfd's fullest account.

A line is `ADDRESS FLAGS SECTION<tab>SIZE<version column> [.hidden] NAME`. FLAGS are seven columns:
l local, g global, u unique, ! both; w weak; C constructor; W warning; I indirect or i ifunc; d
debugging or D dynamic; F function, f file, O object. Sections `*UND*` and `*ABS*` are no sections.

The version column is `  %-11s`, or ` (%s)` filled up to the same width where the version is not the
default one; it is there with `-t` as well (empty), but missing in files that have no versions.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from oracles import tools

_LINE = re.compile(r"([0-9a-f]{8,16}) (.{7}) (\S+)\t([0-9a-f]{8,16})(.*)")
_ARM = b"\x28\0"  # e_machine
_VISIBILITY = re.compile(r"(?:\.(?:hidden|internal|protected)|0x[0-9a-f]{2}) ")


class ObjdumpSymbol(NamedTuple):
    """Link address, size in bytes, section name, the seven flag columns, name as stored."""

    address: int
    size: int
    section: str
    flags: str
    name: str

    @property
    def is_function(self) -> bool:
        """STT_FUNC or STT_GNU_IFUNC, and defined."""
        return ("F" in self.flags or "i" in self.flags[4]) and self.section != "*UND*"


def symbols(file: Path, *, dynamic: bool = False) -> list[ObjdumpSymbol]:
    """All symbols of .symtab, or of .dynsym, in the order of the table.

    An objdump of another machine leaves the bit that says T32 in the addresses of ARM's functions.
    """
    found = parse(tools.run(["objdump", "-T" if dynamic else "-t", "-w", str(file)]))
    with file.open("rb") as elf:
        machine = elf.read(20)[18:]
    if _ARM not in (machine, machine[::-1]):
        return found
    return [
        each._replace(address=each.address & ~1) if each.is_function else each for each in found
    ]


def parse(text: str) -> list[ObjdumpSymbol]:
    """Parse the table of `objdump -t` or `-T`."""
    found = []
    for line in text.splitlines():
        if fields := _LINE.match(line):
            address, size = int(fields[1], 16), int(fields[4], 16)
            name = _name(fields[5])
            found.append(ObjdumpSymbol(address, size, fields[3], fields[2], name))
    return found


def _name(rest: str) -> str:
    """The name behind the version column and the visibility."""
    if rest.startswith(" ("):
        version = rest[2 : rest.index(")")]
        rest = rest[3 + max(10, len(version)) :]
    elif rest.startswith("  "):
        version = rest[2:].split(" ", 1)[0]
        rest = rest[2 + max(11, len(version)) :]
    rest = rest[1:]
    visibility = _VISIBILITY.match(rest)
    return rest[visibility.end() :] if visibility else rest
