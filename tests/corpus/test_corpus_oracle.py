"""The oracle itself, on a handful of cases whose chains are written out here by hand."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest

from corpus import BuiltCase, Case, TrueFrame, cases
from corpus.catalog import PROGRAMS
from corpus.judge import complaints
from corpus.names import ModuleMap
from corpus.shadow import read_shadows, recorded_functions
from corpus.variants import Variant, covering_variants

Build = Callable[[str, Variant], BuiltCase]
GCC_O2 = Variant("gcc", "O2", frame_pointer=False, link="pie")
GCC_O0 = Variant("gcc", "O0", frame_pointer=True, link="no-pie")
CLANG_32 = Variant("clang", "O2", frame_pointer=False, link="pie", bits=32)
MUSL = Variant("musl-gcc", "O2", frame_pointer=False, link="no-pie")
MUSL_STATIC = Variant("musl-gcc", "Os", frame_pointer=False, link="static")
NO_TABLES = Variant("gcc", "O2", frame_pointer=False, link="pie", tables=False)


@pytest.fixture(scope="module")
def build() -> Build:
    """A case, one object for all tests of this file."""
    built: dict[str, BuiltCase] = {}

    def one(program: str, variant: Variant) -> BuiltCase:
        case = Case(next(p for p in PROGRAMS if p.name == program), variant)
        if case.name not in built:
            built[case.name] = case.kept()
        return built[case.name]

    return one


def own_names(built: BuiltCase, frames: tuple[TrueFrame, ...] | None = None) -> list[str | None]:
    """The functions in the program's own files down to main, "<signal>" for trampolines."""
    own = {str(path) for path in (built.exe, *built.libs)}
    names: list[str | None] = []
    for frame in built.truth().frames if frames is None else frames:
        if frame.is_signal_frame:
            names.append("<signal>")
        elif frame.module in own:
            names.append(frame.true_name and frame.true_name.removesuffix(".cold"))
    return names[: names.index("main") + 1] if "main" in names else names


@pytest.mark.parametrize(
    "variant", [GCC_O2, GCC_O0, CLANG_32, MUSL, NO_TABLES], ids=lambda v: v.name
)
def test_plain_chain(build: Build, variant: Variant) -> None:
    built = build("chain", variant)
    frames = built.truth().frames
    assert [frame.true_name for frame in frames[:4]] == ["c", "b", "a", "main"]
    assert [frame.is_exact for frame in frames[:2]] == [True, False]
    assert built.truth().crashed.complete
    assert all(frame.visible_name is None for frame in frames if frame.module == str(built.exe))


def test_chain_ends_at_start(build: Build) -> None:
    frames = build("chain", GCC_O2).truth().frames
    assert frames[-1].true_name == "_start"
    assert frames[-2].visible_name == "__libc_start_main"
    assert build("chain", GCC_O2).truth().decided_by == "gdb+eu-stack"


def test_files_have_equal_layout_and_one_is_stripped(build: Build) -> None:
    built = build("chain", GCC_O2)
    stripped, twin = ModuleMap(built.loaded, built.binaries).exe_module(built.exe), built.twin
    assert len(stripped.stripped.symtab) == 0
    assert len(stripped.full.symtab) > 4
    assert stripped.stripped.segments == stripped.full.segments
    assert twin != built.exe


@pytest.mark.parametrize("variant", [GCC_O2, MUSL_STATIC], ids=lambda v: v.name)
def test_abort_below_a_noreturn_call(build: Build, variant: Variant) -> None:
    names = build("abort", variant).truth().crashed.names()
    assert names[names.index("abort") :][:5] == ["abort", "give_up", "check", "work", "main"]


@pytest.mark.parametrize("program", ["null_call", "wild_call", "wild_data"])
def test_call_to_nowhere(build: Build, program: str) -> None:
    frames = build(program, GCC_O2).truth().frames
    assert frames[0].true_name is None
    assert [frame.true_name for frame in frames[1:4]] == ["dispatch", "handle", "main"]


@pytest.mark.parametrize("variant", [GCC_O2, CLANG_32, MUSL], ids=lambda v: v.name)
def test_signal_frame_between_two_stacks(build: Build, variant: Variant) -> None:
    built = build("signal_altstack", variant)
    assert own_names(built) == ["report", "on_fault", "<signal>", "fault", "work", "main"]
    frames = built.truth().frames
    signal_at = next(i for i, frame in enumerate(frames) if frame.is_signal_frame)
    assert frames[signal_at].is_exact
    assert frames[signal_at + 1].is_exact
    assert not frames[signal_at + 2].is_exact


@pytest.mark.parametrize("variant", [GCC_O2, GCC_O0], ids=lambda v: v.name)
def test_recursion_counts_the_innermost_frame_once(build: Build, variant: Variant) -> None:
    built = build("recursion_small_stack", variant)
    names = own_names(built)
    records = read_shadows(
        built.loaded, built.case.program, built.binaries, ModuleMap(built.loaded, built.binaries)
    )
    recorded = len(records[built.truth().crashed.tid])
    assert set(names) == {"descend", "main"}
    assert len(names) in (recorded, recorded + 1)  # a crash in the prologue comes before its record
    assert len(names) > 100


@pytest.mark.parametrize("variant", [GCC_O2, MUSL_STATIC], ids=lambda v: v.name)
def test_blocked_threads(build: Build, variant: Variant) -> None:
    built = build("threads", variant)
    threads = built.truth().threads
    assert own_names(built)[:2] == ["fault", "crashing_thread"]
    depths = sorted(
        thread.names().count("descend") for thread in threads if "block" in thread.names()
    )
    assert depths == [1, 2, 3, 4, 5, 6, 7, 8]
    assert any("main" in thread.names() for thread in threads)


@pytest.mark.parametrize("variant", [GCC_O2, NO_TABLES], ids=lambda v: v.name)
def test_shared_library(build: Build, variant: Variant) -> None:
    built = build("shared_library", variant)
    assert own_names(built) == ["fault", "visit", "walk", "prepare", "library_visit", "main"]
    assert [frame.visible_name for frame in built.truth().frames[2:5]] == [
        None,
        None,
        "library_visit",
    ]


def test_destructor_during_unwinding(build: Build) -> None:
    names = own_names(build("exception_in_destructor", GCC_O2))
    assert names == ["_ZN5guardD1Ev", "_Z6middlei", "_Z5outeri", "main"]


def test_tail_call_is_not_a_frame(build: Build) -> None:
    assert own_names(build("tail_call", GCC_O2)) == ["fault", "work", "main"]
    assert own_names(build("tail_call", GCC_O0)) == ["fault", "forward", "work", "main"]


def test_false_chains_are_refused(build: Build) -> None:
    built = build("chain", GCC_O2)
    frames = list(built.truth().frames)
    thread = built.loaded.threads[0]
    modules = ModuleMap(built.loaded, built.binaries)
    records = read_shadows(built.loaded, built.case.program, built.binaries, modules)
    recorded = recorded_functions(built.case.program)

    def faults(chain: list[TrueFrame]) -> list[str]:
        return complaints(chain, thread, records[thread.tid], recorded, modules)

    assert faults(frames) == []
    for missing in range(4):
        assert faults(frames[:missing] + frames[missing + 1 :])
    for doubled in range(2, 4):
        assert faults(frames[:doubled] + frames[doubled - 1 :])
    assert faults([*frames, frames[1]])


def test_matrix_covers_all_pairs() -> None:
    variants = covering_variants()
    for wanted in (("clang", 32), ("musl-gcc", False), ("gcc", True)):
        compiler, other = wanted
        assert any(v.compiler == compiler and other in (v.bits, v.frame_pointer) for v in variants)
    choices = [(v.optimisation, v.frame_pointer, v.link, v.cf_protection) for v in variants]
    values = [set(column) for column in zip(*choices, strict=True)]
    for left, right in combinations(range(len(values)), 2):
        assert len({(choice[left], choice[right]) for choice in choices}) == len(
            values[left]
        ) * len(values[right])


def test_size_and_names_of_the_corpus() -> None:
    names = [case.name for case in cases()]
    assert len(names) == len(set(names))
    assert 150 <= len(names) <= 220
    assert {case.program for case in cases()} == set(PROGRAMS)
    assert all(name.endswith("-notables") for name in (case.name for case in cases(tables=False)))
    assert cases(["chain"])[0] == cases(["chain/*"])[0]


def test_nothing_is_written_in_the_source_tree(build: Build) -> None:
    build("chain", GCC_O2)
    sources = Path(__file__).parent
    assert not [
        path
        for path in sources.rglob("*")
        if path.suffix in {".o", ".so"} or (path.name.startswith("core") and path.suffix != ".py")
    ]
