"""A short form of the campaign: this system's compilers, and the latest of build/compilers.

All levels and all compilers: `python3 -m compilers` in tests/.
"""

from __future__ import annotations

import pytest
from acceptance.helpers.scoreboard import Scoreboard

from compilers.build import Corpus
from compilers.found import Compiler, all_compilers, systems_own
from compilers.measure import Result, of_compiler

SHORT = Corpus(units=2, rounds=2, with_other_tests=False)
LEVELS = ("-O1", "-O2 cold", "-O2 cold, no tables")

LEAST_NAMES = 230
LEAST_RECALL, LEAST_PRECISION = 98.0, 99.8
LEAST_AT_CALLS, LEAST_ROWS = 99.9, 99.5
"""Percent, of any compiler; the campaign has floors for each."""


def chosen() -> list[Compiler]:
    """The system's own first, and of each family the latest besides."""
    latest = {one.family: one for one in all_compilers()}
    return list({one.name: one for one in [*systems_own(), *latest.values()]}.values())


@pytest.mark.parametrize("compiler", chosen(), ids=lambda one: str(one.name))
def test_other_compilers_code(compiler: Compiler, scoreboard: Scoreboard) -> None:
    total = Result()
    for result in of_compiler(compiler, LEVELS, SHORT).values():
        total.add(result)
    shares = (total.recall, total.precision, total.calls, total.instructions)
    scoreboard.table(
        "Programs that report their failures, by compiler, percent",
        *("compiler", "names", "wrong", "starts found", "true", "rows at calls", "rows"),
    ).rows.append((compiler.name, total.names, len(total.wrong), *(one.percent for one in shares)))
    assert not total.wrong
    assert total.names >= LEAST_NAMES
    assert total.recall.percent >= LEAST_RECALL
    assert total.precision.percent >= LEAST_PRECISION
    assert total.calls.percent >= LEAST_AT_CALLS
    assert total.instructions.percent >= LEAST_ROWS


def test_there_is_a_gcc() -> None:
    """Else nothing above would have been looked at."""
    assert any(one.family == "gcc" for one in chosen())
