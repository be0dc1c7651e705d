"""Damage and code without a file: assembly, machine code in anonymous memory, overruns, no files.

By kind of damage and beside gdb, eu-stack and lldb on the same files. A frame whose return address
was overwritten need not be found, since nothing is left of it; but no other may stand in for it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

import pytest
from corpus import cases
from damaged_stacks import KINDS, damage_cases

from acceptance.helpers.corpusruns import Corpora
from acceptance.helpers.damageruns import OTHERS, Subject, Verdict, each, without_executables
from acceptance.helpers.scoreboard import Scoreboard

LEAST: dict[str, tuple[float, float]] = {
    "exe-missing": (97.5, 98.0),
    "exe-missing-static": (93.0, 86.0),
    "exe-missing-any": (96.0, 93.0),
    "all, by case": (98.0, 97.0),
    "all, by kind": (98.0, 98.0),
    "all, by frame": (98.0, 98.0),
}
"""Percent of recall and precision, means over a kind; what is not listed has to be exact.

A floor may only rise. The lowest is that of exe-missing-static: where nothing is left except the
stack itself, leftovers in unused variables cannot be told from callers.
"""
PARTS_OF_ANOTHER = ("exe-missing", "exe-missing-static", "all, by case")
LEAST_BEYOND = 97.0
"""Percent of the cases with overwritten stacks in which all frames beyond the damage are found."""
MOST_STAND_INS = 0
"""False frames in place of lost ones, over all cases."""

MOST_ASKED = 10
"""Cases of a kind that the other tools are asked about, since they take longer than all else."""

WILD = ("null_call", "wild_call", "wild_data")
OVERRUN = ("smashed", "overwritten")


def _first_builds(of_each: int) -> tuple[str, ...]:
    """Names of the first builds of each program of the corpus without tables."""
    seen = Counter[str]()
    names = []
    for case in cases(tables=False):
        seen[case.program.name] += 1
        if seen[case.program.name] <= of_each:
            names.append(case.name)
    return tuple(names)


UNDAMAGED = _first_builds(2)
sample = pytest.mark.parametrize("case_names", [UNDAMAGED], ids=["first-builds"])


class Subjects:
    """All that is asked about; built once."""

    def __init__(self, damaged: list[Subject | str], undamaged: list[Subject]) -> None:
        self.broken = [subject for subject in damaged if isinstance(subject, str)]
        self.damaged = [subject for subject in damaged if isinstance(subject, Subject)]
        self.all = [*self.damaged, *undamaged]

    def by_kind(self, subjects: Iterable[Subject]) -> dict[str, list[Subject]]:
        """A subject of the plain corpus is of several kinds."""
        groups: dict[str, list[Subject]] = {}
        for kind, belongs in _KINDS.items():
            groups[kind] = [subject for subject in subjects if belongs(subject)]
        return groups


def _is_plain(subject: Subject) -> bool:
    return subject.kind == ""


def _is(kind: str) -> Callable[[Subject], bool]:
    return lambda subject: subject.kind == kind


_KINDS: dict[str, Callable[[Subject], bool]] = {
    **{kind: _is(kind) for kind in KINDS},
    "null/wild": lambda subject: _is_plain(subject) and subject.built.case.program.name in WILD,
    "exe-missing": _is("exe-missing"),
    "exe-missing-static": _is("exe-missing-static"),
    "exe-missing-any": lambda subject: subject.kind.startswith("exe-missing")
    and subject.kind != "exe-missing-dumped",
    "exe-missing-dumped": _is("exe-missing-dumped"),
    "musl": lambda s: _is_plain(s) and s.built.case.variant.compiler == "musl-gcc",
    "no-tables+fp": lambda s: _is_plain(s) and s.built.case.variant.frame_pointer,
    "no-tables-no-fp": lambda s: _is_plain(s) and not s.built.case.variant.frame_pointer,
}


@pytest.fixture(scope="module")
def subjects(corpora: Corpora, damaged: list[Subject | str]) -> Subjects:
    """The damaged programs, and of the crash corpus two builds of each: plain and without files."""
    built = [corpora.run(name).built for name in UNDAMAGED]
    plain = [Subject(case, "") for case in built]
    return Subjects(damaged, plain + without_executables(built))


def _means(verdicts: Sequence[Verdict]) -> tuple[float, float]:
    """Recall and precision in percent."""
    recall = 100 * sum(one.recall for one in verdicts) / len(verdicts)
    return recall, 100 * sum(one.precision for one in verdicts) / len(verdicts)


def _is_exact(verdict: Verdict) -> bool:
    return verdict.right == verdict.required and not verdict.false


@sample
def test_every_case_is_damaged_as_it_should_be(case_names: object, subjects: Subjects) -> None:
    assert not subjects.broken, "\n".join(subjects.broken)
    assert len(subjects.damaged) == len(damage_cases())
    for subject in subjects.damaged:
        frames = subject.built.truth().frames
        if subject.kind in OVERRUN:
            assert subject.lost or frames[0].module is None or "data" in subject.name, subject.name
            assert len(frames) > max(subject.lost, default=0) + 2, f"{subject.name}: nothing beyond"
        else:
            assert not subject.lost, subject.name


@sample
def test_recall_and_precision(
    case_names: object, subjects: Subjects, scoreboard: Scoreboard
) -> None:
    heads = ("cases", "exact", "frames", "recall %", "precision %")
    table = scoreboard.table("Damage and code without a file", "kind", *heads)
    means = {}
    for kind, group in {**subjects.by_kind(subjects.all), "all, by case": subjects.all}.items():
        verdicts = [subject.verdict for subject in group]
        means[kind] = _means(verdicts)
        exact, frames = sum(map(_is_exact, verdicts)), sum(one.required for one in verdicts)
        table.rows.append((kind, len(group), exact, frames, *means[kind]))
    kinds = [mean for kind, mean in means.items() if kind not in PARTS_OF_ANOTHER]
    means["all, by kind"] = (fmean(one[0] for one in kinds), fmean(one[1] for one in kinds))
    means["all, by frame"] = _shares([subject.verdict for subject in subjects.all])
    for kind in ("all, by kind", "all, by frame"):
        table.rows.append((kind, "", "", "", *means[kind]))
    for kind, (recall, precision) in means.items():
        least_recall, least_precision = LEAST.get(kind, (100.0, 100.0))
        assert recall >= least_recall, kind
        assert precision >= least_precision, kind


@sample
def test_beyond_the_damage(case_names: object, subjects: Subjects, scoreboard: Scoreboard) -> None:
    overrun = [subject for subject in subjects.damaged if subject.kind in OVERRUN]
    lacking = [one for one in overrun if one.verdict.beyond_right < one.verdict.beyond]
    share = 100 * (1 - len(lacking) / len(overrun))
    stand_ins = sum(subject.verdict.stand_ins for subject in overrun)
    table = scoreboard.table("Overwritten stacks", "what", "cases", "share %")
    table.rows.append(("all frames beyond the damage", len(overrun) - len(lacking), share))
    table.rows.append(("false frames in place of lost ones", stand_ins, ""))
    assert share >= LEAST_BEYOND, "\n".join(subject.message() for subject in lacking[:3])
    inventing = [subject for subject in overrun if subject.verdict.stand_ins]
    assert stand_ins <= MOST_STAND_INS, "\n".join(one.message() for one in inventing[:3])


def _shares(verdicts: Sequence[Verdict]) -> tuple[float, float]:
    """Recall and precision in percent, of all frames together."""
    false, found = sum(one.false for one in verdicts), sum(one.found for one in verdicts)
    right = sum(one.right for one in verdicts)
    return 100 * right / sum(one.required for one in verdicts), 100 * (1 - false / found)


def _asked_of_others(subjects: Subjects) -> list[Subject]:
    """Of each kind some, of as many programs as possible."""
    first: dict[tuple[str, str], Subject] = {}
    for subject in subjects.all:
        first.setdefault((subject.kind, subject.built.case.program.name), subject)
    chosen = []
    for group in subjects.by_kind(first.values()).values():
        chosen += group[:: math.ceil(len(group) / MOST_ASKED)]
    return list(dict.fromkeys(chosen))


@sample
def test_beside_the_others(case_names: object, subjects: Subjects, scoreboard: Scoreboard) -> None:
    chosen = _asked_of_others(subjects)
    verdicts: dict[str, dict[Subject, Verdict]] = {"whocall": {one: one.verdict for one in chosen}}
    for tool in OTHERS:
        answers = zip(chosen, each(tool, chosen))
        verdicts[tool] = {one: verdict for one, verdict in answers if verdict is not None}
    heads = [f"{tool} {what} %" for tool in verdicts for what in ("recall", "precision")]
    table = scoreboard.table("Damage, beside the others", "kind", "cases", *heads)
    for kind, group in {**subjects.by_kind(chosen), "all": chosen}.items():
        cells: list[object] = []
        for said in verdicts.values():
            answered = [said[one] for one in group if one in said]
            cells += _means(answered) if answered else ("-", "-")
        table.rows.append((kind, len(group), *cells))
    read = scoreboard.table("Damage, cores that each tool could read", "tool", "cores")
    read.rows += [(tool, len(said)) for tool, said in verdicts.items()]
    ours = _means(list(verdicts["whocall"].values()))
    for tool in OTHERS:
        theirs = _means(list(verdicts[tool].values()))
        assert ours[0] > theirs[0] + 10, f"{tool} finds as much"
        # A tool that stops at once where code is missing is seldom wrong.
        assert ours[1] >= theirs[1] - 3, f"{tool} is more often right"
