"""The verdicts of `whocall compare` worked out anew, from gdb's frames and the truth.

Nothing here is the product's: gdb is asked by another script, the truth comes from the corpus or
from eu-stack, and the longest common subsequence is the textbook's.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from acceptance.helpers.front_ends import WHOCALL, Document, json_in_gdb, printed

FOUND = ("same", "unnamed", "named", "renamed")
GDB_ALONE = ("false in gdb", "unproven", "beyond whocall")
SURE = ("context", "cfi", "analysis")


def compare(core: Path, exe: Path) -> Document:
    """`whocall compare --json --all` of the command line."""
    line = [sys.executable, str(WHOCALL), "compare", "--json", "--all", str(core), str(exe)]
    found: Document = json.loads(printed(line))
    assert found["schema"] == "whocall.compare/1"
    return found


def compare_in_gdb(core: Path, exe: Path) -> Document:
    """`whocall compare -json -all` in gdb."""
    return json_in_gdb("whocall compare -json -all", core, exe)


def common_length(left: Sequence[int], right: Sequence[int]) -> int:
    """The length of a longest common subsequence, by rows of the quadratic table."""
    above = [0] * (len(right) + 1)
    for element in left:
        row = [0]
        for at, other in enumerate(right):
            row.append(above[at] + 1 if element == other else max(above[at + 1], row[at]))
        above = row
    return above[-1]


@dataclass(frozen=True)
class Shown:
    """What a comparison of one thread shows: the chains of both sides, rows by rows."""

    rows: list[Document]
    counts: dict[str, int]

    @property
    def ours(self) -> list[int]:
        """whocall's physical frames."""
        return [int(row["whocall"]["pc"], 16) for row in self.rows if self._stands(row, "whocall")]

    @property
    def gdbs(self) -> list[int]:
        """gdb's physical frames."""
        return [int(row["gdb"]["pc"], 16) for row in self.rows if self._stands(row, "gdb")]

    @staticmethod
    def _stands(row: Document, side: str) -> bool:
        return row[side] is not None and not row[side]["inlined"]

    @property
    def all_sure(self) -> bool:
        """Whether each frame of whocall's follows from the one before by a rule that skips none."""
        frames = [row["whocall"] for row in self.rows if row["whocall"]]
        return all(frame["trust"] in SURE for frame in frames)

    def with_verdict(self, *verdicts: str) -> list[Document]:
        """The rows that got one of these verdicts."""
        return [row for row in self.rows if row["verdict"] in verdicts]


def shown(document: Document, lwp: int | None = None) -> Shown:
    """One thread of a comparison; the only one there is when `lwp` is None."""
    threads = [one for one in document["threads"] if lwp in (None, one["lwp"])]
    assert len(threads) == 1
    return Shown(threads[0]["rows"], threads[0]["counts"])


def _rests_on_a_search(row: Document) -> bool:
    frame = row["whocall"]
    return frame is not None and not frame["inlined"] and frame["rests_on"] is not None


def counted(rows: Sequence[Document]) -> dict[str, int]:
    """The closing counts as the rows say them."""
    of = [row["verdict"] for row in rows]
    return {
        "frames": sum(of.count(verdict) for verdict in (*FOUND, "missing in gdb")),
        **{verdict: of.count(verdict) for verdict in FOUND},
        "missing": of.count("missing in gdb"),
        "false": of.count("false in gdb"),
        "unproven": of.count("unproven"),
        "beyond": of.count("beyond whocall"),
        "resting": sum(map(_rests_on_a_search, rows)),
    }


def is_name(name: str | None) -> bool:
    """Not nothing, and not merely the function's start."""
    return name is not None and not name.startswith("sub_")


def verdict_on_names(row: Document, true_names: Sequence[str]) -> str:
    """What the names of a frame that both sides have amount to."""
    ours, gdbs = row["whocall"], row["gdb"]
    if gdbs["signal_trampoline"]:
        return "same"
    if not is_name(ours["function"]):
        return "unnamed" if gdbs["function"] is None else "same"
    if gdbs["function"] is None:
        return "named"
    # Debug information names the function, symbols its clone: f.cold, f.part.0.
    known = {name.partition(".")[0] for name in (ours["function"], *true_names)}
    return "same" if gdbs["function"].partition(".")[0] in known else "renamed"
