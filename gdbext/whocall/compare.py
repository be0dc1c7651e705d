"""whocall's frames beside those of gdb's built-in unwinder: a verdict for each line.

Pure functions over two lists, so that tests can recompute every verdict. The chains are aligned by
pc; whocall's counts as the true one, except where it gave up before gdb did.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from whocall.align import align
from whocall.model import Backtrace, Frame

SAME = "same"
NAMED = "named"  # gdb had no name, we have one
RENAMED = "renamed"  # both have names, and they differ
MISSING = "missing in gdb"
FALSE = "false in gdb"  # gdb shows it, and the chain does not have it
INLINED = "inlined in one"  # an inlined call that only one of the two shows; counts for neither
BEYOND = "beyond whocall"  # gdb goes on where whocall gave up: nobody knows
VERDICTS = (SAME, NAMED, RENAMED, MISSING, FALSE, INLINED, BEYOND)


@dataclass(frozen=True)
class GdbFrame:
    """A frame as gdb's unwinder has it; `name` is None where gdb prints ??.

    `inlined` frames have no place on the stack: inlined calls, and tail calls out of debug info.
    """

    level: int
    pc: int
    name: str | None = None
    inlined: bool = False
    signal_trampoline: bool = False


@dataclass(frozen=True)
class GdbStack:
    """gdb's frames of one thread, and in gdb's words why there are no more ("" for a clean end)."""

    frames: Sequence[GdbFrame]
    stop: str = ""


@dataclass(frozen=True)
class Row:
    """A line of the comparison; one of the two frames may be None."""

    verdict: str
    ours: Frame | None
    gdbs: GdbFrame | None


@dataclass(frozen=True)
class Counts:
    """How gdb did. `frames` is the length of the true chain, without one-sided inlined calls."""

    frames: int
    same: int
    named: int
    renamed: int
    missing: int
    false: int
    beyond: int


SameName = Callable[[Frame, str], bool]


def plain_name(name: str) -> str:
    """A function's name without parameters and clone suffixes, which the two write differently.

    `ns::f(int) const`, `ns::f`, `f [clone .cold]` and gdb's `f [cold]` compare as `ns::f`, `f`.
    """
    name = re.sub(r" \[[^\]]*\]$", "", name)
    name = re.sub(r"\.(cold|part\.\d+|isra\.\d+|constprop\.\d+)(\.\d+)*$", "", name)
    if "(" not in name or "operator()" in name:
        return name
    end = name.rfind(")")
    depth = 0
    for at in range(end, -1, -1):
        depth += (name[at] == ")") - (name[at] == "(")
        if depth == 0:
            return name[:at] or name
    return name


def is_real_name(name: str | None) -> bool:
    """False for None and for `sub_1136`, which says only where a function starts."""
    return name is not None and not re.match(r"sub_[0-9a-f]+\Z", name)


def names_agree(frame: Frame, gdb_name: str) -> bool:
    """Whether the frame's name is gdb's, parameters aside."""
    return frame.function is not None and plain_name(frame.function) == plain_name(gdb_name)


def verdict_of_pair(ours: Frame, gdbs: GdbFrame, same_name: SameName = names_agree) -> str:
    """The verdict on two frames with one pc."""
    if ours.signal_trampoline and gdbs.signal_trampoline:
        return SAME
    if not is_real_name(ours.function):
        return SAME  # gdb may know a name and we only an address: gdb is not wrong
    if gdbs.name is None:
        return NAMED
    return SAME if same_name(ours, gdbs.name) else RENAMED


def compare(trace: Backtrace, stack: GdbStack, same_name: SameName = names_agree) -> list[Row]:
    """The aligned rows, innermost first; between two common frames ours stand before gdb's."""
    pairs = align(
        [(frame.pc, frame.inlined) for frame in trace.frames],
        [(frame.pc, frame.inlined) for frame in stack.frames],
    )
    gave_up = trace.stop.reason not in ("end-of-stack", "main", "count")
    rows: list[Row] = []
    a = b = 0
    for next_a, next_b in [*pairs, (len(trace.frames), len(stack.frames))]:
        for ours in trace.frames[a:next_a]:
            rows.append(Row(INLINED if ours.inlined else MISSING, ours, None))
        past_end = gave_up and next_a == len(trace.frames)
        for gdbs in stack.frames[b:next_b]:
            alone = BEYOND if past_end else FALSE
            rows.append(Row(INLINED if gdbs.inlined else alone, None, gdbs))
        if next_a < len(trace.frames):
            ours, gdbs = trace.frames[next_a], stack.frames[next_b]
            rows.append(Row(verdict_of_pair(ours, gdbs, same_name), ours, gdbs))
        a, b = next_a + 1, next_b + 1
    return rows


def count(rows: Sequence[Row]) -> Counts:
    """How often each verdict was given."""
    of = dict.fromkeys(VERDICTS, 0)
    for row in rows:
        of[row.verdict] += 1
    return Counts(
        frames=of[SAME] + of[NAMED] + of[RENAMED] + of[MISSING],
        same=of[SAME],
        named=of[NAMED],
        renamed=of[RENAMED],
        missing=of[MISSING],
        false=of[FALSE],
        beyond=of[BEYOND],
    )


def first_divergence(rows: Sequence[Row]) -> int | None:
    """Index of the first row where the chains part; names do not count. None: they never do."""
    return next(
        (at for at, row in enumerate(rows) if row.verdict in (MISSING, FALSE, BEYOND)), None
    )


def summary(counts: Counts) -> str:
    """`gdb: 3 of 12 frames right, 2 without a name, 7 missing, 4 false`."""
    parts = [f"gdb: {counts.same} of {counts.frames} frames right"]
    if counts.renamed:
        parts.append(f"{counts.renamed} under another name")
    parts += [
        f"{counts.named} without a name",
        f"{counts.missing} missing",
        f"{counts.false} false",
    ]
    if counts.beyond:
        parts.append(f"{counts.beyond} after whocall gave up")
    return ", ".join(parts)
