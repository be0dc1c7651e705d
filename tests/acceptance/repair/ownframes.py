"""What is asked of each corpus: gdb's own true frames, which no repair may take and no comparison
call false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from corpus import BuiltCase, build_all

import whocall
from acceptance.helpers import chains
from acceptance.helpers.damageruns import Subject, build_damage, without_executables
from acceptance.repair.repairruns import Job, Outcome
from acceptance.returns import test_arenas, test_damaged, test_planted, test_replaced
from acceptance.returns.builds import (
    AARCH64,
    Case,
    Place,
    built,
    crashed,
    eu_names,
    ours,
    places_of,
    witness,
)

RETURNS: Sequence[Case] = [
    case
    for case in (
        *test_arenas.CASES,
        *test_damaged.CASES,
        *test_planted.STARTED,
        *test_planted.TRUE,
        *test_replaced.CASES,
    )
    if case.build not in AARCH64
]
"""Stacks that somebody has a hand in: those of the programs in ../returns."""


def job_of(
    case: BuiltCase, kind: str, lost: frozenset[int] = frozenset(), has_executable: bool = True
) -> Job:
    """Of all threads whose truth is known to its end."""
    threads = [thread for thread in case.truth().threads if thread.complete]
    true = {thread.tid: [frame.pc for frame in thread.frames] for thread in threads}
    exe = case.exe if has_executable else None
    return Job(case.case.name, kind, case.case.variant.bits, exe, case.core, true, lost)


def job_of_subject(subject: Subject) -> Job:
    """Of the damage corpus, and of cores without their program."""
    return job_of(subject.built, subject.kind, subject.lost, subject.has_executable)


def _true_places(case: Case) -> list[Place]:
    if case.program == "planted":  # two frames, and what was put below them
        return places_of(chains.physical(ours(case)))[:2]
    if case.program in ("arenas", "noreturn"):
        return eu_names(case, disturbed=True)[0]
    return witness(case)[0]


def job_of_returns(case: Case) -> Job:
    """The whole chain that there was before anything was replaced or overwritten."""
    core, exe = crashed(case).core, built(case).exe
    with whocall.open_core(str(core), str(exe)) as image:
        bias = {one.path.rpartition("/")[2]: one.bias for one in image.modules}
        thread = image.threads[image.index_of_crash()].lwp
    true = [place.address + bias.get(place.file, 0) for place in _true_places(case)]
    bits = 32 if "-m32" in case.build else 64
    return Job(str(case), f"returns: {case.program}", bits, exe, core, {thread: true})


def _of_crashes(tables: bool) -> Iterator[Job]:
    for outcome in build_all(None, tables=tables):
        if outcome.built is not None:
            yield job_of(outcome.built, "tables" if tables else "no tables")


def _of_damage() -> Iterator[Job]:
    for subject in build_damage():
        if isinstance(subject, Subject):
            yield job_of_subject(subject)


def _without_programs() -> Iterator[Job]:
    wanted = [outcome.built for outcome in build_all(None, tables=True) if outcome.built]
    yield from map(job_of_subject, without_executables(wanted))


CORPORA: dict[str, Callable[[], Iterable[Job]]] = {
    "tables": lambda: _of_crashes(True),
    "no-tables": lambda: _of_crashes(False),
    "damage": _of_damage,
    "missing": _without_programs,
    "returns": lambda: map(job_of_returns, RETURNS),
}
"""All that there is, for the whole form."""


def complaints(outcomes: Iterable[Outcome]) -> list[str]:
    """Of the cases in which a true frame of gdb's own was taken or blamed."""
    return [outcome.message() for outcome in outcomes if outcome.taken or outcome.blamed]
