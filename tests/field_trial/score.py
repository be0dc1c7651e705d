"""Compares a walk with the truth, thread by thread.

A frame is false when it stands where the truth has none, before the truth's end. What a walk finds
behind the end of a truth that is known not to be whole is `further`: listed, not judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import NamedTuple

TRUSTS = ("context", "cfi", "analysis", "frame-pointer", "scan")
"""Best first."""


class Found(NamedTuple):
    """A frame of a walk."""

    pc: int
    cfa: int | None
    trust: str
    function: str | None
    module: str | None
    evidence: str


@dataclass
class Score:
    """Sums; `false_by_trust` counts the false frames by what they claim."""

    true: int = 0
    missing: int = 0
    further: int = 0
    proved: int = 0
    false_by_trust: Counter[str] = field(default_factory=Counter)

    def add(self, other: Score) -> None:
        """Adds another one's figures to these."""
        self.true += other.true
        self.missing += other.missing
        self.further += other.further
        self.proved += other.proved
        self.false_by_trust += other.false_by_trust

    @property
    def false(self) -> int:
        """All false frames."""
        return sum(self.false_by_trust.values())

    @property
    def boldest(self) -> str:
        """The best trust of a false frame; `-` without any."""
        return next((trust for trust in TRUSTS if self.false_by_trust[trust]), "-")

    @property
    def share(self) -> float:
        """Of the true frames, those found."""
        return (self.true - self.missing) / self.true if self.true else 1.0


@dataclass(frozen=True)
class Part:
    """A stretch of the alignment that is not equal."""

    kind: str  # missing, false or further
    begin: int  # in the walk
    end: int
    true_begin: int
    true_end: int


def parts(found: Sequence[int], true: Sequence[int], complete: bool) -> list[Part]:
    """What differs, innermost first. At the end of a truth that is not whole, as many frames as
    the truth has left stand in place of its own; those behind them are further.
    """
    differing: list[Part] = []
    blocks = SequenceMatcher(None, list(found), list(true), autojunk=False).get_opcodes()
    for tag, begin, end, true_begin, true_end in blocks:
        if tag == "equal":
            continue
        if true_end > true_begin:
            differing.append(Part("missing", begin, begin, true_begin, true_end))
        last_false = end
        if true_end == len(true) and not complete:
            last_false = min(end, begin + true_end - true_begin)
        if last_false > begin:
            differing.append(Part("false", begin, last_false, true_begin, true_end))
        if end > last_false:
            differing.append(Part("further", last_false, end, true_end, true_end))
    return differing


def of_thread(
    frames: Sequence[Found],
    true: Sequence[int],
    complete: bool,
    dropped: Sequence[str] = (),
    returned: Sequence[tuple[int, int]] = (),
) -> Score:
    """The figures of one thread. `dropped` names functions whose frames eu-stack leaves out: where
    they stand between two true frames they count as further, not as false. `returned`: pc and stack
    pointer of true frames behind the truth's end; what else stands before the last is false.
    """
    score = Score(true=len(true))
    for part in parts([frame.pc for frame in frames], true, complete):
        between = part.true_begin == part.true_end
        named = all(frame.function in dropped for frame in frames[part.begin : part.end])
        if part.kind == "missing":
            score.missing += part.true_end - part.true_begin
        elif part.kind == "further" and returned:
            score.add(_behind(frames, part.begin, returned))
        elif part.kind == "further" or (between and named):
            score.further += part.end - part.begin
        else:
            score.false_by_trust.update(frame.trust for frame in frames[part.begin : part.end])
    if returned and not score.proved:
        score.true += len(returned)
        score.proved = len(returned)
        score.missing += len(returned)
    return score


def _behind(frames: Sequence[Found], begin: int, returned: Sequence[tuple[int, int]]) -> Score:
    """The frames from `begin` on against those that returned: they are told apart by their place on
    the stack, since recursion has the same pcs again and again.
    """
    found = places(frames)
    proved = set(returned)
    score = Score(true=len(proved), proved=len(proved))
    score.missing = len(proved - set(found[begin:]))
    last = max((n for n in range(begin, len(found)) if found[n] in proved), default=begin - 1)
    for number in range(begin, len(found)):
        if found[number] in proved:
            continue
        if number < last:
            score.false_by_trust[frames[number].trust] += 1
        else:
            score.further += 1
    return score


def places(frames: Sequence[Found]) -> list[tuple[int, int]]:
    """The pc of each frame, and the stack pointer when the thread comes back to it."""
    before = [0, *(frame.cfa or 0 for frame in frames)]
    return [(frame.pc, sp) for frame, sp in zip(frames, before, strict=False)]
