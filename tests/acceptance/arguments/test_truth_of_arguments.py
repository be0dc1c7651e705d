"""A few of the random programs by each compiler and level: most values are told, none is wrong.

`python3 -m acceptance.arguments --count 50` (in tests) counts on more of them.
"""

from __future__ import annotations

import pytest

from acceptance.arguments import emulated
from acceptance.arguments.score import Score
from acceptance.arguments.truth import crash

SEEDS = range(4)
WITHOUT_TABLES = ("-fno-asynchronous-unwind-tables", "-fno-exceptions")
# Percent of all parameters whose value is told, at least: what is computed and then thrown away
# nobody can tell. Floors that only rise.
FLOORS = {"-O0": 99.0, "-O1": 88.0, "-O2": 82.0, "-O3": 82.0, "-Os": 82.0}
EMULATED = {
    "aarch64": {"-O0": 99.0, "-O1": 88.0, "-O2": 86.0, "-O3": 86.0, "-Os": 86.0},
    "i386": {"-O0": 99.0, "-O1": 96.0, "-O2": 97.0, "-O3": 97.0, "-Os": 96.0},
    "riscv64": {"-O0": 99.0, "-O1": 87.0, "-O2": 86.0, "-Os": 86.0},
    "x86_64": {"-O0": 99.0, "-O2": 86.0},  # with arguments on the stack
}
# The same, where every other program has tables and the others have none. What stands behind
# abort() the compiler leaves out at any level, and with it what alone reads some parameters.
IN_TURNS = {
    "arm": {"-O0": 97.0, "-O1": 85.0, "-O2": 85.0, "-Os": 86.9},
    "thumb": {"-O0": 97.0, "-O1": 86.0, "-O2": 85.0, "-Os": 87.0},
}


@pytest.mark.parametrize("level", FLOORS)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("flags", [(), WITHOUT_TABLES], ids=["tables", "none"])
def test_values_are_told_and_true(
    compiler: str, level: str, flags: tuple[str, ...], record_property: pytest.RecordProperty
) -> None:
    score = Score()
    for seed in SEEDS:
        score.add(crash(seed, compiler, level, *flags))
    record_property("score", str(score))
    _check(score, FLOORS[level])


def test_what_a_callee_leaves_alone_is_sure() -> None:
    """A frame's lowest words, small ones among them, are its own where it handed none over."""
    score = Score()
    for seed in SEEDS:
        score.add(crash(seed, "gcc", "-O0"))
        score.add(emulated.crash(seed, "x86_64", "-O0"))
    _check(score, 99.0)
    assert score.shown["now"] == 0


@pytest.mark.parametrize(
    ("name", "level"), [(name, level) for name, levels in EMULATED.items() for level in levels]
)
@pytest.mark.parametrize("flags", [(), WITHOUT_TABLES], ids=["tables", "none"])
def test_values_of_other_sets(
    name: str, level: str, flags: tuple[str, ...], record_property: pytest.RecordProperty
) -> None:
    score = Score()
    for seed in SEEDS:
        score.add(emulated.crash(seed, name, level, *flags))
    record_property("score", str(score))
    _check(score, EMULATED[name][level])


@pytest.mark.parametrize(
    ("name", "level"), [(name, level) for name, levels in IN_TURNS.items() for level in levels]
)
def test_values_with_tables_and_without_in_turns(
    name: str, level: str, record_property: pytest.RecordProperty
) -> None:
    score = Score()
    for seed in SEEDS:
        score.add(emulated.crash(seed, name, level, *(WITHOUT_TABLES if seed % 2 else ())))
    record_property("score", str(score))
    _check(score, IN_TURNS[name][level])


def _check(score: Score, floor: float) -> None:
    print(score)
    assert not score.faults
    assert score.overcounted == 0
    assert score.share >= floor
