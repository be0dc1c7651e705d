"""whocall's frames beside those of gdb's built-in unwinder: a verdict for each line.

Pure functions over two lists, so that tests can recompute every verdict. The chains are aligned by
pc. whocall's counts as the true one where each of its frames follows surely from the one before; in
a gap, where it had to search the stack or gave up, gdb may know better, and is called false only
when no code lies at its frame's address.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from whocall.base.model import Backtrace, Frame
from whocall.base.records import dataclass
from whocall.report.comparison.align import align

SAME = "same"  # also when gdb has a name and we only an address
UNNAMED = "unnamed"  # the same frame, and neither has a name
NAMED = "named"  # gdb had no name, we have one
RENAMED = "renamed"  # both have names, of different functions
MISSING = "missing in gdb"
FALSE = "false in gdb"  # gdb shows it, and the chain does not have it
UNPROVEN = "unproven"  # gdb shows it where whocall may have skipped it: nobody knows
BEYOND = "beyond whocall"  # gdb goes on where whocall gave up: nobody knows
OFF_STACK = "not on stack"  # a call that only debug info tells of; counts for neither
VERDICTS = (SAME, UNNAMED, NAMED, RENAMED, MISSING, FALSE, UNPROVEN, BEYOND, OFF_STACK)

SURE = ("context", "cfi", "analysis")  # what finds a caller without passing over another


@dataclass(frozen=True)
class GdbFrame:
    """A frame as gdb's unwinder has it; `name` is None where gdb prints ??.

    `inlined` frames have no place on the stack: inlined calls, and tail calls out of debug info.
    `start` is the runtime address of the function that gdb takes it for.
    """

    level: int
    pc: int
    name: str | None = None
    inlined: bool = False
    signal_trampoline: bool = False
    start: int | None = None


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
    """How gdb did.

    `frames` is the length of whocall's chain: same + unnamed + named + renamed + missing. The
    frames that only gdb has are false + unproven + beyond. `resting` of whocall's frames are no
    surer than a search of the stack that found one below them.
    """

    frames: int
    same: int
    unnamed: int
    named: int
    renamed: int
    missing: int
    false: int
    unproven: int
    beyond: int
    resting: int = 0

    @property
    def found(self) -> int:
        """How many frames of the chain gdb has."""
        return self.frames - self.missing


SameName = Callable[[Frame, GdbFrame], bool]
IsCode = Callable[[int], bool]


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


def names_agree(frame: Frame, gdbs: GdbFrame) -> bool:
    """Whether the two name one function: its names are equal, parameters aside, or its starts are.

    glibc, for one, has raise, __GI_raise and __libc_raise at one address; a file of debug info may
    know all of them and a stripped library one.
    """
    if frame.function is None or gdbs.name is None:
        return False
    if plain_name(frame.function) == plain_name(gdbs.name):
        return True
    if gdbs.start is None or frame.offset is None or frame.inlined:
        return False
    return gdbs.start == frame.pc - frame.offset


def verdict_of_pair(ours: Frame, gdbs: GdbFrame, same_name: SameName = names_agree) -> str:
    """The verdict on two frames with one pc."""
    if ours.signal_trampoline and gdbs.signal_trampoline:
        return SAME
    if not is_real_name(ours.function):
        return UNNAMED if gdbs.name is None else SAME
    if gdbs.name is None:
        return NAMED
    return SAME if same_name(ours, gdbs) else RENAMED


def is_sure(frame: Frame) -> bool:
    """Whether nothing can lie between the frame and the one that it called.

    A search of the stack (scan) may pass over frames, and a chain of frame pointers leaves out
    functions that set none up. What the tables or the instructions say must show a call besides.
    """
    if frame.trust not in SURE:
        return False
    if frame.level == 0 or frame.inlined or frame.interrupted or frame.signal_trampoline:
        return True
    return "call-before" in frame.evidence or "call-target" in frame.evidence


def has_given_up(trace: Backtrace) -> bool:
    """Whether whocall's chain ends before the stack does."""
    return trace.stop.reason not in ("end-of-stack", "main", "count")


def compare(
    trace: Backtrace,
    stack: GdbStack,
    same_name: SameName = names_agree,
    is_code: IsCode = lambda pc: True,
) -> list[Row]:
    """The aligned rows, innermost first; between two common frames ours stand before gdb's.

    `is_code(pc)` is false when no code can lie at an address.
    """
    pairs = align(
        [(frame.pc, frame.inlined) for frame in trace.frames],
        [(frame.pc, frame.inlined) for frame in stack.frames],
    )
    gave_up = has_given_up(trace)
    rows: list[Row] = []
    a = b = 0
    for next_a, next_b in [*pairs, (len(trace.frames), len(stack.frames))]:
        for ours in trace.frames[a:next_a]:
            rows.append(Row(OFF_STACK if ours.inlined else MISSING, ours, None))
        if gave_up and next_a == len(trace.frames):
            alone = BEYOND
        else:
            alone = FALSE if all(map(is_sure, trace.frames[a : next_a + 1])) else UNPROVEN
        for at in range(b, next_b):
            gdbs = stack.frames[at]
            # An interrupted function may stand anywhere, at 0 for one: that is why it crashed.
            called = at == 0 or not stack.frames[at - 1].signal_trampoline
            impossible = called and not is_code(gdbs.pc)
            verdict = OFF_STACK if gdbs.inlined else FALSE if impossible else alone
            rows.append(Row(verdict, None, gdbs))
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
        frames=of[SAME] + of[UNNAMED] + of[NAMED] + of[RENAMED] + of[MISSING],
        same=of[SAME],
        unnamed=of[UNNAMED],
        named=of[NAMED],
        renamed=of[RENAMED],
        missing=of[MISSING],
        false=of[FALSE],
        unproven=of[UNPROVEN],
        beyond=of[BEYOND],
        resting=sum(row.ours is not None and _rests(row.ours) for row in rows),
    )


def _rests(frame: Frame) -> bool:
    return not frame.inlined and frame.rests_on is not None


def first_divergence(rows: Sequence[Row]) -> int | None:
    """Index of the first row where the chains part; names do not count. None: they never do."""
    parting = (MISSING, FALSE, UNPROVEN, BEYOND)
    return next((at for at, row in enumerate(rows) if row.verdict in parting), None)


def _listed(counts: Sequence[tuple[int, str]]) -> str:
    return ", ".join(f"{number} {word}" for number, word in counts if number)


def summary(rows: Sequence[Row], counts: Counts) -> str:
    """`gdb has 9 of whocall's 14 frames (3 same, 6 unnamed) and 7 more: 5 false, 2 unproven.`, and
    where some are no surer than a guess, `6 of whocall's 14 rest on a search of the stack.`
    """
    off_stack = sum(row.ours is None and row.verdict == OFF_STACK for row in rows)
    found = _listed(
        [
            (counts.same, SAME),
            (counts.unnamed, UNNAMED),
            (counts.named, NAMED),
            (counts.renamed, RENAMED),
        ]
    )
    text = f"gdb has {counts.found} of whocall's {counts.frames} frames"
    if found:
        text += f" ({found})"
    alone = [(counts.false, "false"), (counts.unproven, UNPROVEN), (counts.beyond, BEYOND)]
    alone.append((off_stack, OFF_STACK))
    more = sum(number for number, _ in alone)
    text += f" and {more} more: {_listed(alone)}." if more else " and no others."
    if counts.resting:
        verb = "rests" if counts.resting == 1 else "rest"
        text += f" {counts.resting} of whocall's {counts.frames} {verb} on a search of the stack."
    return text
