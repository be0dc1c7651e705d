"""The unwind rows of a file as `readelf -wF` (--debug-dump=frames-interp) prints them.

What readelf's words mean, tried with binutils 2.40:

- An FDE whose instructions are all DW_CFA_nop prints its header and no row: it has the row of its
CIE, over its whole range. `Fde.rows` has it filled in. - A row is printed at each
DW_CFA_advance_loc, whether something changed or not: equal rows follow each other (after
DW_CFA_GNU_args_size, say), and an advance of 0 gives two rows with one address, of which the last
one counts. `merged` takes both away. DW_CFA_remember_state and restore_state bring back the CFA as
well as the registers. - The columns are the registers that the CIE or this FDE mentions anywhere,
so they differ from FDE to FDE. A register that is mentioned only later reads `u` in the rows
before; that is not DW_CFA_undefined (which prints `u` too), it is "no rule", for a callee-saved
register the same value. The two cannot be told apart, except for `ra`, whose `u` means the end of
the stack. Here `u` rules are left out of `Row.rules`, but kept for `ra`. - Rules: `c-16` saved at
CFA-16; `v-8` the value is CFA-8; `s` same value; `exp` saved where an expression points; `vexp` the
value of one; `r14 (r14)` kept in another register, with a space in the middle, here shortened to
`r14`. The return address column is called `ra`, not by register. - CFA: `rsp+8`, `ebp-4`, or `exp`.
readelf prints no expressions; `oracles.readelf_raw` has them. - Addresses are link addresses. In a
relocatable file every section starts at 0, and readelf resolves pc-relative beginnings wrongly or
not at all: use linked files. - Zero-length FDEs occur (an empty function's
.cfi_startproc/.cfi_endproc in an object file; ld drops them); they are yielded, and cover no pc. -
By default readelf follows .gnu_debuglink and reads the sections of the separate file as well; `-wN`
keeps to the file named.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from oracles import tools

_FDE = re.compile(
    r"([0-9a-f]{8,}) [0-9a-f]+ [0-9a-f]+ FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+)"
)
_CIE = re.compile(r'([0-9a-f]{8,}) [0-9a-f]+ [0-9a-f]+ CIE "([^"]*)" cf=(\d+) df=(-?\d+) ra=(\d+)')
_SECTION = re.compile(r"Contents of the (\S+) section")


class Row(NamedTuple):
    """What holds from `loc` on: the CFA and the rule of each register that has one."""

    loc: int
    cfa: str
    rules: dict[str, str]


@dataclass(frozen=True)
class Cie:
    """A common information entry: its augmentation string, return address column, initial row."""

    offset: int
    augmentation: str
    return_column: int
    rows: tuple[Row, ...]

    @property
    def signal_frame(self) -> bool:
        """Whether its functions are signal trampolines (look up the exact pc, not pc-1)."""
        return "S" in self.augmentation


@dataclass(frozen=True)
class Fde:
    """The rows of [pc_begin, pc_end) and where the entry lies (section name and offset in it)."""

    section: str
    offset: int
    cie: Cie
    pc_begin: int
    pc_end: int
    rows: tuple[Row, ...]

    def row_at(self, pc: int) -> Row | None:
        """The row that holds at the instruction at `pc`, if it is in the range."""
        if not self.pc_begin <= pc < self.pc_end:
            return None
        number = bisect_right([row.loc for row in self.rows], pc)
        return self.rows[number - 1] if number else None


def fdes(file: Path) -> Iterator[Fde]:
    """The FDEs of .eh_frame and .debug_frame in the file's order, while readelf prints them."""
    return parse(tools.lines(["readelf", "-wFN", str(file)]))


def rows_by_range(file: Path) -> dict[tuple[int, int], list[Row]]:
    """The merged rows of every FDE by (pc_begin, pc_end); of equal ranges the first one's."""
    found: dict[tuple[int, int], list[Row]] = {}
    for fde in fdes(file):
        found.setdefault((fde.pc_begin, fde.pc_end), merged(fde.rows))
    return found


def merged(rows: Iterable[Row]) -> list[Row]:
    """Without rows that repeat the one before, and with only the last of several at one address."""
    kept: list[Row] = []
    for row in rows:
        if kept and kept[-1].loc == row.loc:
            kept.pop()
        if not kept or (kept[-1].cfa, kept[-1].rules) != (row.cfa, row.rules):
            kept.append(row)
    return kept


def parse(lines: Iterable[str]) -> Iterator[Fde]:
    """Parse the text of `readelf -wF`; a blank line, a header or the end closes an entry."""
    section = ""
    cies: dict[int, Cie] = {}
    header: re.Match[str] | None = None
    columns: list[str] | None = None
    rows: list[Row] = []
    for line in lines:
        if not line or line.isspace() or line[0] == " ":
            if "LOC" in line:
                columns = line.split()[2:]
            continue
        entry = _FDE.match(line) or _CIE.match(line)
        contents = None if entry else _SECTION.match(line)
        if entry or contents:
            yield from _close(section, cies, header, rows)
            header, rows, columns = entry, [], None
            if contents:
                section = contents[1]
                cies = {}
        elif header and columns is not None:
            row = _row(line, columns)
            if row:
                rows.append(row)
    yield from _close(section, cies, header, rows)


def _row(line: str, columns: list[str]) -> Row | None:
    words = line.split()
    if len(words) < 2 or len(words[0]) not in (8, 16) or words[1] == "ZERO":
        return None  # a blank, the columns, or the terminator right behind an FDE without rows
    if "(" in line:
        words = [word for word in words if not word.startswith("(")]
    loc, cfa, *rules = words
    named = {column: rule for column, rule in zip(columns, rules) if rule != "u" or column == "ra"}
    return Row(int(loc, 16), cfa, named)


def _close(
    section: str, cies: dict[int, Cie], header: re.Match[str] | None, rows: list[Row]
) -> Iterator[Fde]:
    """Keep a finished CIE; yield a finished FDE."""
    if header is None:
        return
    if header.re is _CIE:
        offset = int(header[1], 16)
        cies[offset] = Cie(offset, header[2], int(header[5]), tuple(rows))
        return
    offset, cie_offset, begin, end = (int(header[number], 16) for number in (1, 2, 3, 4))
    cie = cies.get(cie_offset) or Cie(cie_offset, "", -1, ())
    own = tuple(rows) or tuple(row._replace(loc=begin) for row in cie.rows)
    yield Fde(section, offset, cie, begin, end, own)
