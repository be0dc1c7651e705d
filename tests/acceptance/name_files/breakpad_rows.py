"""Breakpad's symbol files with rows, as dump_syms writes them of a program's own unwind tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from oracles.tools import run

from whocall import open_symbols

_FDE = re.compile(r"^\w+ \w+ \w+ FDE .*pc=(\w+)\.\.(\w+)")
_OFFSET = re.compile(r"^([a-z0-9]+)([+-]\d+)$")


def breakpad_id(build_id: str) -> str:
    """A GUID whose first three numbers are turned round, and the age."""
    digits = build_id[:32].ljust(32, "0")
    parts = [digits[0:8], digits[8:12], digits[12:16]]
    turned = "".join(bytes.fromhex(part)[::-1].hex() for part in parts)
    return (turned + digits[16:]).upper() + "0"


def _rule(name: str, told: str) -> str:
    """ "c-16" in postfix notation; empty where nothing is told."""
    at = _OFFSET.match(told)
    if name == "CFA" and at:
        return f".cfa: ${at[1]} {int(at[2])} +"
    if at and at[1] == "c":
        return f"{'.ra' if name == 'ra' else '$' + name}: .cfa {int(at[2])} + ^"
    return ""


def _rows(program: Path) -> Iterator[str]:
    """STACK CFI records, by what readelf makes of the tables."""
    said = run(["readelf", "--debug-dump=frames-interp", "-W", str(program)])
    begin, end, columns, first = None, 0, [], True
    for line in [*said.splitlines(), ""]:
        entry = _FDE.match(line)
        words = line.split()
        if not words and begin is not None and first:  # as functions are entered
            yield f"STACK CFI INIT {begin:x} {end - begin:x} .cfa: $rsp 8 + .ra: .cfa -8 + ^"
        if entry:
            begin, end, first = int(entry[1], 16), int(entry[2], 16), True
        elif begin is None or not words:
            begin = None
        elif words[0] == "LOC":
            columns = words[1:]
        elif len(words) == len(columns) + 1:
            rules = [_rule(*pair) for pair in zip(columns, words[1:], strict=True)]
            if not rules[0]:  # an expression
                begin = None
                continue
            size = f"INIT {begin:x} {end - begin:x}" if first else f"{int(words[0], 16):x}"
            yield f"STACK CFI {size} {' '.join(filter(None, rules))}"
            first = False


def symbol_file(twin: Path, name: str, *, low: int = 0) -> str:
    """`low`: where the program's first byte is linked; Breakpad counts from there."""
    lines = [f"MODULE Linux x86_64 {breakpad_id(open_symbols(str(twin)).build_id)} {name}"]
    for row in run(["nm", "-S", str(twin)]).splitlines():
        at, *rest = row.split()
        if len(rest) == 3 and rest[1] in "tTW":
            lines.append(f"FUNC {int(at, 16) - low:x} {int(rest[0], 16):x} 0 {rest[2]}")
    for row in _rows(twin):
        words = row.split(" ")
        place = 3 if words[2] == "INIT" else 2
        words[place] = f"{int(words[place], 16) - low:x}"
        lines.append(" ".join(words))
    return "\n".join(lines) + "\n"
