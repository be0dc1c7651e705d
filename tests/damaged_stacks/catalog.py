"""The damaged programs as data, and the builds of each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

from corpus.case import Case
from corpus.catalog import SOURCES, Program
from corpus.variants import Variant

PROGRAMS = Path(__file__).parent / "programs"


def _variant(
    compiler: str, level: int, frame_pointer: bool, link: str = "pie", bits: int = 64
) -> Variant:
    return Variant(compiler, f"O{level}", frame_pointer, link, bits, tables=False)


VARIANTS = (
    (
        _variant("gcc", 2, False),
        _variant("clang", 0, True, "no-pie", 32),
        _variant("gcc", 1, True, bits=32),
        _variant("clang", 3, False, "static"),
    ),
    (
        _variant("clang", 2, True),
        _variant("gcc", 3, False, bits=32),
        _variant("gcc", 0, False, "no-pie"),
        _variant("clang", 1, False, "static-pie", 32),
    ),
)
"""Two quartets, each with every choice in two of its builds; programs take them in turn."""

ASSEMBLY = {0: "pushes", 1: "trampoline", 2: "frame_register", 3: "realigned", 4: "other_stack"}
FILLS = {0: "text", 1: "random", 2: "heap", 3: "data"}
LEVELS = {0: "return", 1: "leaf", 2: "below"}
SIZES = (64, 128, 256, 400)


def _program(name: str, source: str, only_steps: bool = True, **defines: object) -> Program:
    """Of the sources beside this file; the stepper decides the truth where no debugger can."""
    words = tuple(f"{key.upper()}={value}" for key, value in defines.items())
    return Program(name, str(PROGRAMS / source), defines=words, only_steps=only_steps)


def _jit(name: str, **changes: object) -> Program:
    chosen: dict[str, object] = {
        "frame_pointer": 0,
        "protection": "PROT_READ|PROT_EXEC",
        "padding": "0xcc",
        "fault_in_code": 0,
    }
    return _program(name, "jit.c", **{**chosen, **changes})


def _coroutines() -> Iterator[Program]:
    for name, source in (
        ("coroutine", SOURCES / "user_context.c"),
        ("coroutine_nested", PROGRAMS / "coroutine_nested.c"),
    ):
        yield Program(name, str(source), glibc_only=True, unrecorded=frozenset({"main"}))


def _named_programs() -> Iterator[tuple[str, Program]]:
    """Kind and program of those that are built in a whole quartet."""
    for shape, name in ASSEMBLY.items():
        yield "asm", _program(f"asm_{name}", "asm_between.c", shape=shape)
    yield "jit-no-fp", _jit("jit_no_fp")
    yield "jit-fp", _jit("jit_fp", frame_pointer=1, padding=0)
    yield "jit-no-fp", _jit("jit_execute_only", protection="PROT_EXEC", padding=0)
    yield "jit-no-fp", _jit("jit_no_fp_fault", fault_in_code=1)
    yield "jit-fp", _jit("jit_fp_fault", frame_pointer=1, fault_in_code=1)
    for program in _coroutines():
        yield "coroutine", program
    for at_return, name in enumerate(("smashed_return", "smashed_own_return")):
        yield "smashed", _program(name, "smashed_return.c", fault_at_return=at_return)


def _overwritten() -> Iterator[Program]:
    for size, fill, level in product(SIZES, FILLS, LEVELS):
        name = f"overwritten_{size}_{FILLS[fill]}_{LEVELS[level]}"
        yield _program(name, "overwritten.c", size=size, fill=fill, level=level)


def _all() -> Iterator[tuple[str, Case]]:
    for number, (kind, program) in enumerate(_named_programs()):
        for variant in VARIANTS[number % 2]:
            yield kind, Case(program, variant)
    every = [variant for pair in zip(*VARIANTS, strict=True) for variant in pair]
    for number, program in enumerate(_overwritten()):
        # 48 programs over 8 builds; the shift by size keeps them from running in step
        yield "overwritten", Case(program, every[(number + number // 12) % len(every)])


_KINDS = {case.name: kind for kind, case in _all()}
_CASES = [case for _, case in _all()]
KINDS = tuple(dict.fromkeys(_KINDS.values()))
"""What can be wrong, in the order of the catalog."""


def damage_cases() -> list[Case]:
    """All cases in their fixed order."""
    return list(_CASES)


def kind_of(name: str) -> str:
    """The kind of damage of a case, by its name."""
    return _KINDS[name]
