"""The truth of damaged stacks, held against gdb on the same program with nothing overwritten."""

from __future__ import annotations

from dataclasses import replace

import pytest
from corpus import BuiltCase, Case
from corpus.variants import Variant

from damaged_stacks import damage_cases, lost_frames, required_frames
from damaged_stacks.catalog import VARIANTS
from damaged_stacks.missing import DUMP_FILES, without_executable

GCC_O2, CLANG_32 = VARIANTS[0][0], VARIANTS[0][1]
both = pytest.mark.parametrize("variant", [GCC_O2, CLANG_32], ids=lambda v: v.name)


def _build(program: str, variant: Variant, **defines: int) -> BuiltCase:
    """A program of the catalog in a variant, some of its defines changed."""
    found = next(case.program for case in damage_cases() if case.program.name == program)
    changed = {name.upper(): value for name, value in defines.items()}
    kept = tuple(word for word in found.defines if word.partition("=")[0] not in changed)
    words = kept + tuple(f"{name}={value}" for name, value in changed.items())
    only_steps = found.only_steps and not changed
    return Case(replace(found, defines=words, only_steps=only_steps), variant).kept()


def _names(built: BuiltCase) -> list[str | None]:
    return built.truth().crashed.names()


@both
def test_the_truth_is_the_chain_before_the_damage(variant: Variant) -> None:
    whole = _build("overwritten_256_text_below", variant, size=0)
    assert "gdb" in whole.truth().decided_by, "gdb with symbols must agree with the stepper"
    assert lost_frames(whole) == []
    damaged = _build("overwritten_256_text_below", variant)
    assert _names(damaged) == _names(whole)
    assert [frame.true_name for frame in required_frames(damaged)][:3] == _names(whole)[:3]


@both
def test_longer_overruns_lose_more_frames_from_the_same_place_on(
    variant: Variant,
) -> None:
    lost = []
    for size in (64, 128, 256, 400):
        built = _build(f"overwritten_{size}_heap_leaf", variant)
        lost.append([frame.true_name for frame in lost_frames(built)])
        chain = _names(built)
        first = chain.index(lost[-1][0])
        assert chain[first : first + len(lost[-1])] == lost[-1], "one stretch of the chain"
        assert chain[first - 1] == "careless"
    assert all(longer[: len(shorter)] == shorter for shorter, longer in zip(lost, lost[1:]))
    assert len(lost[-1]) > len(lost[0]) >= 1


@both
def test_a_smashed_return_loses_one_frame(variant: Variant) -> None:
    built = _build("smashed_return", variant)
    assert [frame.true_name for frame in lost_frames(built)] == ["caller"]
    assert _names(built)[:6] == ["fault", "below", "careless", "caller", "work", "main"]


def test_machine_code_is_in_the_truth() -> None:
    built = _build("jit_no_fp", GCC_O2)
    frames = built.truth().frames
    made = [level for level, frame in enumerate(frames) if frame.module is None]
    assert made == [2, 3, 5, 6, 7]
    assert [frame.true_name for frame in frames[:2]] == ["fault", "bottom"]
    assert lost_frames(built) == []


@pytest.mark.parametrize("dumped", [None, DUMP_FILES])
def test_a_case_that_lost_its_executable_has_its_truth(dumped: int | None) -> None:
    found = next(case for case in damage_cases() if case.program.name == "smashed_return")
    built = without_executable(found, dumped)
    assert str(built.exe) in {mapping.path for mapping in built.loaded.mappings}
    assert not built.exe.exists()
    assert _names(built) == _names(found.kept())
    assert found.kept().exe.exists()


def test_the_catalog_is_varied() -> None:
    cases = damage_cases()
    assert len({case.name for case in cases}) == len(cases)
    for name in ("overwritten_64", "overwritten_128", "overwritten_256", "overwritten_400"):
        variants = {case.variant for case in cases if case.program.name.startswith(name)}
        assert len(variants) >= 4
    for quartet in VARIANTS:
        assert {variant.bits for variant in quartet} == {32, 64}
        assert {variant.compiler for variant in quartet} == {"gcc", "clang"}
        assert {variant.optimisation for variant in quartet} == {"O0", "O1", "O2", "O3"}
        assert not any(variant.tables for variant in quartet)
