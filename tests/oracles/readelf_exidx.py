"""The exception tables of ARM as `arm-linux-gnueabihf-readelf -u` decodes them.

readelf says what each instruction does ("vsp = vsp + 8", "pop {r4, r14}"), of tables that belong to
the ABI's own routines; of those of a language's routine (`Personality routine: 0x79d3c`) it says
no more than that. What it says is carried out here, word by word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from oracles import tools

READELF = "arm-linux-gnueabihf-readelf"

_ENTRY = re.compile(r"(0x[0-9a-f]+)(?: <.*>)?: (?:(0x[0-9a-f]+)(?: \[cantunwind\])?|@0x[0-9a-f]+)$")
_STEP = re.compile(r"  (?:0x[0-9a-f]{2} )+ *(.*)$")


@dataclass
class Entry:
    """One entry of the index."""

    function: int
    """Its address, without the bit that says T32."""
    cannot_unwind: bool
    words: list[str] = field(default_factory=list)
    """What its instructions do; none where readelf does not decode them."""


def entries(file: Path) -> Iterator[Entry]:
    """All of a file, in the order of the index."""
    entry = None
    for line in tools.lines([READELF, "-u", str(file)]):
        if match := _ENTRY.match(line.strip()):
            if entry is not None:
                yield entry
            entry = Entry(int(match[1], 16) & ~1, match[2] == "0x1")
        elif entry is not None and (step := _STEP.match(line)):
            entry.words.append(step[1].strip())
    if entry is not None:
        yield entry


def _registers(popped: str) -> list[str]:
    """One by one: neighbours among the D registers are said as "D8-D9"."""
    found = []
    for each in popped.split(", "):
        span = re.fullmatch(r"(\D+)(\d+)-\1(\d+)", each)
        numbers = range(int(span[2]), int(span[3]) + 1) if span else ()
        found += [f"{span[1]}{number}" for number in numbers] if span else [each]
    return found


def row(words: list[str]) -> tuple[str, dict[str, str]] | None:
    """CFA and rules in readelf's notation for DWARF: "sp+8", {"ra": "c-4"}; None: refused."""
    base, at = "sp", 0
    places: dict[str, int] = {}
    for word in words:
        if word == "finish":
            break
        if move := re.fullmatch(r"vsp = vsp ([+-]) (\d+)", word):
            at += int(move[1] + move[2])
        elif source := re.fullmatch(r"vsp = (r\d+)", word):
            assert not places
            base, at = source[1], 0
        elif popped := re.fullmatch(r"pop \{(.*)\}", word):
            for name in _registers(popped[1]):
                places[name] = at
                at += 8 if name.startswith("D") else 4
        else:
            return None
    slots = {name: f"c{place - at}" for name, place in places.items() if name[0] == "r"}
    back = slots.pop("r15", slots.get("r14"))
    slots.pop("r14", None)
    rules = {"sp" if name == "r13" else name: slot for name, slot in slots.items()}
    return f"{base}{at:+}", rules | ({} if back is None else {"ra": back})
