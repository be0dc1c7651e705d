"""The corpus of other instruction sets: whether it builds, dies and remembers as it must."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import pytest

from ports.case import cases
from ports.elf import EXECUTABLE, PT_LOAD, WRITABLE, Core
from ports.judge import Frame, judge
from ports.matrix import PROGRAMS, covering_variants
from ports.sets import SETS
from ports.truth import Record, source_name


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


def test_a_core_takes_little_of_the_disk() -> None:
    """Else the cores of one set alone push out all that is kept for other tests."""
    case = next(case for case in cases(SETS["mips"], True) if case.program.name == "chain")
    size = case.kept().core.stat()
    assert size.st_blocks * 512 < size.st_size // 8


@pytest.mark.parametrize("order", ["<", ">"])
def test_where_an_address_stands(tmp_path: Path, order: str) -> None:
    """As a whole word, signed or not, of memory that can be written."""
    words = (0x5500001234, 0xBEEF005500001234, 0x55000012340000, 0x5500001238, 0x5500001234)
    memory = struct.pack(f"{order}5Q", *words)
    order_in_header = 1 if order == "<" else 2
    ident = bytes((*b"\x7fELF", 2, order_in_header, *bytes(10)))
    header = struct.pack(f"{order}HHIQQQIHHHHHH", 4, 183, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    loads = [
        struct.pack(f"{order}IIQQQQQQ", PT_LOAD, flags, 64 + 2 * 56, address, 0, 40, 40, 1)
        for flags, address in ((EXECUTABLE, 0x1000), (WRITABLE, 0x2000))
    ]
    (tmp_path / "core").write_bytes(b"".join((ident, header, *loads, memory)))
    places = list(Core(tmp_path / "core").places_of(0x5500001234))
    assert places == [0x2000, 0x2008, 0x2020]


def test_each_pair_of_choices_occurs() -> None:
    """In the variants, with and without the set's special flags; and there are programs for all of
    them where each is built once.
    """
    programs = [program for program in PROGRAMS if not program.throws]
    for has_extra in (True, False):
        assert len(covering_variants(has_extra)) <= len(programs)
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
class Told:
    """Functions of 256 bytes each, the C library above; code ends at 0x500."""

    records: tuple[Record, ...]
    pc: int = 0x110
    recorded: frozenset[str] = frozenset({"inner", "outer", "main"})

    def function_at(self, pc: int) -> str | None:
        return FUNCTIONS.get(pc & ~0xFF)

    def is_code(self, pc: int) -> bool:
        return 0x100 <= pc < 0x500

    def into_function(self, pc: int) -> int | None:
        return pc & 0xFF if self.function_at(pc) else None


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
    verdict = judge([Frame(pc) for pc in pcs], Told(PLAIN))
    assert (verdict.right, verdict.missing, verdict.false) == (right, missing, false)


def test_frames_of_the_library_between_two_of_the_program() -> None:
    """As many as there are; a record that was overwritten is not asked for."""
    records = (Record("inner", 0x420, False), Record("outer", 0x320, True), PLAIN[2])
    frames = [Frame(pc) for pc in (0x110, 0x420, 0x440, 0x220, 0x320, 0x440)]
    verdict = judge(frames, Told((records[0], Record("outer", 0x320, False))))
    assert (verdict.right, verdict.missing, verdict.false) == (3, 0, 0)
    verdict = judge(frames[:2], Told(records[:2]))
    assert (verdict.right, verdict.missing, verdict.false) == (2, 0, 0)


def test_a_wild_call_has_the_callers_own_frame() -> None:
    """It is in no record, for the callee made none."""
    frames = [Frame(pc) for pc in (0, 0x120, 0x220, 0x320, 0x420)]
    verdict = judge(frames, Told(PLAIN, pc=0))
    assert (verdict.right, verdict.missing, verdict.false) == (4, 0, 0)


@pytest.mark.parametrize(("pc", "frames", "false"), [(0x104, 3, 0), (0x104, 4, 1), (0x140, 3, 1)])
def test_a_recursion_that_died_in_its_prologue(pc: int, frames: int, false: int) -> None:
    """It has made no record, and returns to where all others of it return: one frame more."""
    records = (*[Record("inner", 0x180, False)] * 2, *PLAIN)
    chain = [Frame(each) for each in (pc, *[0x180] * frames, 0x220, 0x320, 0x420)]
    verdict = judge(chain, Told(records, pc=pc))
    assert (verdict.right, verdict.missing, verdict.false) == (6, 0, false)


def test_a_guess_is_not_held_against_the_precision() -> None:
    """A voice does not vouch for it."""
    frames = [Frame(0x110), Frame(0x220), Frame(0x240, sure=False), Frame(0x320), Frame(0x420)]
    assert judge(frames, Told(PLAIN)).false == 0


@pytest.mark.parametrize(("frames", "right", "missing"), [(3, 6, 0), (2, 6, 0), (1, 5, 1)])
def test_a_recursion_of_which_the_innermost_are_lost(frames: int, right: int, missing: int) -> None:
    """What the chain has of it are the frames whose return addresses still stand."""
    lost = [Record("inner", 0x180, True)] * 2
    records = (*lost, *[Record("inner", 0x180, False)] * 2, *PLAIN)
    chain = [Frame(each) for each in (0x140, *[0x180] * frames, 0x220, 0x320, 0x420)]
    verdict = judge(chain, Told(records, pc=0x140))
    assert (verdict.right, verdict.missing, verdict.false) == (right, missing, 0)
