"""The corpus of other instruction sets: whether it builds, dies and remembers as it must."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import pytest

from ports.case import cases
from ports.judge import Frame, judge
from ports.matrix import covering_variants
from ports.sets import SETS
from ports.truth import Record, ThreadTruth, source_name

SOME = ("chain", "signal_altstack", "overwritten_200", "virtual_calls")


@pytest.mark.parametrize("name", list(SETS))
@pytest.mark.parametrize(
    "program", ("chain", "signal_altstack", "overwritten_200", "virtual_calls")
)
def test_a_core_tells_its_truth(name: str, program: str) -> None:
    """Each recorded return address lies in the function whose record comes next, or in none of
    the program's own with a record.
    """
    case = next(case for case in cases(SETS[name], True) if case.program.name == program)
    crashed = case.kept().truth[0]
    records = crashed.records
    assert len(records) >= 4
    assert records[-1].function == "main"
    for record, caller in zip(records, records[1:]):
        runs = crashed.function_at(record.return_address - 1)
        assert runs == caller.function or runs not in crashed.recorded
    assert any(record.lost for record in records) == (program == "overwritten_200")


def test_each_pair_of_choices_occurs() -> None:
    """In the variants, with and without the set's special flags."""
    for has_extra in (True, False):
        chosen = [
            (one.compiler, one.optimisation, one.frame_pointer, one.link)
            for one in covering_variants(has_extra)
        ]
        for first, second in combinations(range(4), 2):
            pairs = {(one[first], one[second]) for one in chosen}
            every = {(one[first], other[second]) for one in chosen for other in chosen}
            assert pairs == every


def test_names_in_sources() -> None:
    """Clones and mangled names hold them."""
    assert source_name("compare.part.0") == "compare"
    assert source_name("_ZN5Shape4areaEi") == "area"
    assert source_name("_ZNK12_GLOBAL__N_16Circle4areaEi") == "area"
    assert source_name("_Z4workRi") == "work"
    assert source_name(None) is None


FUNCTIONS = {0x100: "inner", 0x200: "outer", 0x300: "main", 0x400: None}


@dataclass(frozen=True)
class Told(ThreadTruth):
    """Functions of 256 bytes each, the C library above; code ends at 0x500."""

    def function_at(self, pc: int) -> str | None:
        return FUNCTIONS.get(pc & ~0xFF)

    def is_code(self, pc: int) -> bool:
        return 0x100 <= pc < 0x500


def _truth(*records: Record, pc: int = 0x110) -> ThreadTruth:
    recorded = frozenset({"inner", "outer", "main"})
    return Told(1, 11, pc, records, 0, None, recorded, None)  # type: ignore[arg-type]


PLAIN = (
    Record("inner", 0x220, False),
    Record("outer", 0x320, False),
    Record("main", 0x420, False),
)


@pytest.mark.parametrize(
    ("pcs", "right", "missing", "false"),
    [
        ((0x110, 0x220, 0x320, 0x420, 0x440), 4, 0, 0),
        ((0x110, 0x320, 0x420), 3, 1, 0),
        ((0x110, 0x220, 0x240, 0x320, 0x420), 4, 0, 1),  # nothing stands between the two
        ((0x110, 0x220, 0x320, 0x420, 0x140), 4, 0, 1),  # a function without its record
        ((0x110, 0x220, 0x320, 0x420, 0x990), 4, 0, 1),  # no code
        ((0x118, 0x220, 0x320, 0x420), 3, 1, 1),
        ((), 0, 4, 0),
    ],
)
def test_verdicts(pcs: tuple[int, ...], right: int, missing: int, false: int) -> None:
    """Right, missing and false frames of one chain."""
    verdict = judge([Frame(pc) for pc in pcs], _truth(*PLAIN))
    assert (verdict.right, verdict.missing, verdict.false) == (right, missing, false)


def test_frames_of_the_library_between_two_of_the_program() -> None:
    """As many as there are; a record that was overwritten is not asked for."""
    records = (Record("inner", 0x420, False), Record("outer", 0x320, True), PLAIN[2])
    frames = [Frame(pc) for pc in (0x110, 0x420, 0x440, 0x220, 0x320, 0x440)]
    verdict = judge(frames, _truth(records[0], Record("outer", 0x320, False)))
    assert (verdict.right, verdict.missing, verdict.false) == (3, 0, 0)
    verdict = judge(frames[:2], _truth(*records[:2]))
    assert (verdict.right, verdict.missing, verdict.false) == (2, 0, 0)


def test_a_wild_call_has_the_callers_own_frame() -> None:
    """It is in no record, for the callee made none."""
    frames = [Frame(pc) for pc in (0, 0x120, 0x220, 0x320, 0x420)]
    verdict = judge(frames, _truth(*PLAIN, pc=0))
    assert (verdict.right, verdict.missing, verdict.false) == (4, 0, 0)


def test_a_guess_is_not_held_against_the_precision() -> None:
    """A voice does not vouch for it."""
    frames = [Frame(0x110), Frame(0x220), Frame(0x240, sure=False), Frame(0x320), Frame(0x420)]
    assert judge(frames, _truth(*PLAIN)).false == 0
