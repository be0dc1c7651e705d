"""What a voice makes of many cases, in sums and in complaints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ports import voices
from ports.case import BuiltCase, build_all, cases
from ports.judge import Verdict, judge
from ports.matrix import ALL_BUILDS
from ports.sets import SETS
from whocall.base.errors import Error

PEERS_EVERY = 14
"""Other tools by themselves are asked about each fourteenth case: all three take seconds a core."""

Ask = Callable[[BuiltCase], voices.Chains]


@dataclass
class Score:
    """Over all threads of all cases."""

    total: Verdict = field(default_factory=Verdict)
    said: list[str] = field(default_factory=list)
    """The cases that are not exact, each with the reasons."""


@cache
def built(name: str, tables: bool, builds: int = ALL_BUILDS) -> tuple[BuiltCase, ...]:
    """The cases of a set, so many builds of each program."""
    return tuple(build_all(cases(SETS[name], tables, builds)))


def score(of: Iterable[BuiltCase], ask: Ask) -> Score:
    """A voice that fails on a case has found nothing there."""
    result = Score()
    for case in of:
        reasons: list[str] = []
        try:
            chains = ask(case)
        except Error as error:
            chains = {}
            reasons.append(str(error))
        for thread in case.truth:
            verdict = judge(chains.get(thread.tid, []), thread)
            result.total += verdict
            reasons += verdict.complaints
        if reasons:
            result.said.append(f"{case.case.name}: {'; '.join(reasons[:4])}")
    return result


def rows(name: str, tables: bool, entry: Path, builds: int = ALL_BUILDS) -> list[tuple[str, Score]]:
    """whocall first, then the other tools, then gdb-multiarch after `whocall repair`."""
    everything: Sequence[BuiltCase] = built(name, tables, builds)
    some = everything[::PEERS_EVERY]
    found = [("whocall", score(everything, voices.ask_whocall))]
    found += [(voice, score(some, ask)) for voice, ask in voices.VOICES.items()]
    repaired = dict(zip((case.core for case in everything), voices.ask_repaired(everything, entry)))
    after = score(everything, lambda case: repaired[case.core])
    return [*found, ("gdb-multiarch after repair", after)]
