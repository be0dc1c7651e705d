"""Function starts of a file that was stripped of symbols and unwind tables, held against its twin.

What counts: of the twin's function symbols (distinct addresses inside sections of code, those with
a size), how many are found; and of what is found inside those functions, how much begins one. What
lies outside every sized symbol (PLT slots, labels of hand-written code) counts nowhere.
"""

from __future__ import annotations

import re
import subprocess
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from oracles import objdump_table, tools

from whocall.base.native_module import native

HIDDEN = (".eh_frame", ".eh_frame_hdr", ".debug_frame", ".gcc_except_table")
_PART = re.compile(r"\.(cold|part)(\.\d+)?$")


@dataclass
class Score:
    """Counts of one file; `false` by the words of the witnesses that told them."""

    functions: int = 0
    found: int = 0
    claimed: int = 0
    false: Counter[str] = field(default_factory=Counter)

    @property
    def recall(self) -> float:
        """Share of the true functions that were found, percent."""
        return 100 * self.found / self.functions

    @property
    def precision(self) -> float:
        """Share of the starts found that are true, percent."""
        return 100 * (1 - self.false.total() / self.claimed) if self.claimed else 100.0

    def add(self, other: Score) -> None:
        """Count those of another file too."""
        self.functions += other.functions
        self.found += other.found
        self.claimed += other.claimed
        self.false += other.false


def bare_twin(path: Path, directory: Path) -> Path:
    """A copy without symbols and unwind tables."""
    bare = directory / f"{path.name}.bare"
    removed = [f"--remove-section={name}" for name in HIDDEN]
    subprocess.run(
        ["objcopy", "--strip-all", *removed, str(path), str(bare)],
        check=True,
        capture_output=True,
        env=tools.environment(),
    )
    return bare


def functions_of(path: Path) -> tuple[dict[int, int], set[int]]:
    """Start -> end of the sized functions, and all addresses that any symbol names."""
    sized: dict[int, int] = {}
    named = set()
    for symbol in objdump_table.symbols(path):
        if symbol.section in ("*UND*", "*ABS*"):
            continue
        named.add(symbol.address)
        if symbol.is_function and symbol.size and not _PART.search(symbol.name):
            end = symbol.address + symbol.size
            sized[symbol.address] = max(sized.get(symbol.address, 0), end)
    return sized, named


def score(twin: Path, bare: Path) -> Score:
    """Judge what is found in `bare` by the symbols of `twin`."""
    truth, named = functions_of(twin)
    starts = sorted(truth)
    result = Score(functions=len(starts))
    claimed = {each[0]: each[5] for each in native.functions(str(bare)) if not each[4] or each[6]}
    result.found = sum(start in claimed for start in starts)
    for start, witnesses in claimed.items():
        at = bisect_right(starts, start) - 1
        inside = at >= 0 and start < truth[starts[at]]
        if not inside and start not in truth:
            continue
        result.claimed += 1
        if start not in named:
            result.false["+".join(witnesses)] += 1
    return result
