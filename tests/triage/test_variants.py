"""What is at hand of a crash makes its severity less known, never another.

A short form; of all crashes of the corpora by `python3 -m triage.variants`.
"""

from __future__ import annotations

import sys

import pytest
from corpus import build_all, cases

from triage.crashes import Crashed
from triage.variants import DUMPS, kinds, survey
from whocall.triage.severity import CLASSES, UNDEFINED


def test_of_bugs(cores: list[Crashed], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "capstone", None)
    counts, wrong = survey(each.core for each in cores[::3])
    assert wrong == []
    assert counts["looks"] == counts["crashes"] * 2 * (1 + len(DUMPS))
    assert counts["same"] > counts["looks"] / 2


def test_of_the_corpora() -> None:
    """Of each program another build, as far as there are so many."""
    for tables in (True, False):
        programs = {case.program.name: case.name for case in cases(tables=tables)}
        names = list(programs.values())[:: 4 if tables else 7]
        built = [each.built for each in build_all(None, names, tables=tables)]
        assert None not in built
        counts, wrong = survey(each.core for each in built if each is not None)
        assert wrong == []
        assert counts["same"] > counts["looks"] / 2


def test_with_everything_at_hand_most_is_known(cores: list[Crashed]) -> None:
    found = [kinds(each.core, {})["core"] for each in cores]
    unknown = [one for one in found if CLASSES[one][0] == UNDEFINED]
    assert len(unknown) <= len(found) / 10, found
