"""Cases of the crash corpus, and what whocall makes of each.

Building them for the first time takes most of the time, so only those of the selected tests are
built, and what several tests ask for is measured once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from corpus import BuiltCase, ThreadTruth, build_all, cases

from acceptance.helpers import chains
from whocall import Backtrace

NAMES = {tables: [case.name for case in cases(tables=tables)] for tables in (True, False)}
"""All cases of the corpus with unwind tables (True) and of the one without."""


def score(right: int, of: int) -> float:
    """A share between 0 and 1; of nothing, nothing is wrong."""
    return right / of if of else 1.0


@dataclass(frozen=True)
class Judged:
    """The crashing thread's chain against the truth."""

    true: int
    found: int
    wrong: chains.Difference
    trust: Counter[str]
    """whocall's frames by trust."""
    false_by_trust: Counter[str]

    @property
    def recall(self) -> float:
        """The share of the true frames that were found."""
        return score(self.true - len(self.wrong.missing), self.true)

    @property
    def precision(self) -> float:
        """The share of the found frames that are true."""
        return score(self.found - len(self.wrong.false), self.found)


def judge(trace: Backtrace, truth: ThreadTruth) -> Judged:
    """Compare a backtrace with the truth, by program counters alone."""
    frames = chains.physical(trace)
    wrong = chains.difference([frame.pc for frame in frames], [frame.pc for frame in truth.frames])
    open_false = Counter(wrong.false)
    false = Counter[str]()
    for frame in reversed(frames):
        if open_false[frame.pc]:
            open_false[frame.pc] -= 1
            false[frame.trust] += 1
    trust = Counter(frame.trust for frame in frames)
    return Judged(len(truth.frames), len(frames), wrong, trust, false)


@dataclass(frozen=True)
class Run:
    """A built case with whocall's backtraces of all its threads."""

    built: BuiltCase

    @cached_property
    def stripped(self) -> dict[int, Backtrace]:
        """With the stripped program, as it crashed."""
        return chains.of_core(self.built.core, self.built.exe)

    @cached_property
    def with_twin(self) -> dict[int, Backtrace]:
        """With the unstripped program given."""
        return chains.of_core(self.built.core, self.built.twin)

    @cached_property
    def judged(self) -> Judged:
        """The verdict on the thread that crashed."""
        crashed = self.built.truth().crashed
        return judge(self.stripped[crashed.tid], crashed)


class Corpora:
    """The two corpora, with unwind tables and without; each is built when it is first asked for.

    `selected` are the cases that are wanted; the others are not built.
    """

    def __init__(self, selected: Collection[str]) -> None:
        self._selected = selected
        self._outcomes: dict[bool, dict[str, Run | str]] = {}

    def _build(self, tables: bool) -> dict[str, Run | str]:
        names = [name for name in NAMES[tables] if name in self._selected]
        built = build_all(None, names, tables=tables) if names else ()
        return {
            outcome.case.name: Run(outcome.built) if outcome.built else str(outcome.error)
            for outcome in built
        }

    def of(self, tables: bool) -> dict[str, Run | str]:
        """The runs of one corpus by the name of the case, or why there is none."""
        if tables not in self._outcomes:
            self._outcomes[tables] = self._build(tables)
        return self._outcomes[tables]

    def runs(self, tables: bool) -> list[Run]:
        """All runs of one corpus."""
        return [outcome for outcome in self.of(tables).values() if isinstance(outcome, Run)]

    def run(self, name: str) -> Run:
        """The run of a case; one that could not be built fails the test that asks for it."""
        outcome = self.of(name in NAMES[True])[name]
        assert isinstance(outcome, Run), outcome
        return outcome
