"""Minidumps that hold pieces of the code of programs and libraries, and tell no mappings.

Crashpad and Breakpad keep some bytes around each program counter: memory is the dump's, then the
file's, and what lies behind such a piece is code as it was.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import whocall
from acceptance.inputs.crashes import Chains, Crash, chains
from acceptance.inputs.made_minidumps import AROUND, Form, made
from whocall.cli.main import main


def pcs(found: Chains) -> list[list[int]]:
    return [[pc for pc, _ in chain] for chain in found]


@pytest.mark.parametrize("form", [Form(maps=False), Form(), Form(maps=False, code=False)], ids=str)
def test_the_frames_are_those_of_the_core(
    plain: Crash, true_chains: Chains, form: Form, tmp_path: Path
) -> None:
    dump = made(plain.core, tmp_path / "crash.dmp", form)
    assert chains(dump) == true_chains
    unpacked = tmp_path / "unpacked.core"
    assert main(["unpack", str(dump), "-o", str(unpacked)]) == 0
    assert chains(dump) == chains(unpacked, str(plain.exe))


def test_what_lies_around_a_piece_is_the_files(plain: Crash, tmp_path: Path) -> None:
    dump = made(plain.core, tmp_path / "crash.dmp", Form(maps=False))
    with whocall.open_core(str(dump)) as image:
        for thread in image.threads:
            around = [
                each for each in image.native.mappings
                if each.begin <= thread.pc + AROUND + 64 < each.end
            ]  # fmt: skip
            assert [each.permissions for each in around] == ["r-x"]
            assert len(image.read(thread.pc - AROUND, 4 * AROUND)) == 4 * AROUND


def test_a_stack_is_no_code_for_all_that(plain: Crash, tmp_path: Path) -> None:
    dump = made(plain.core, tmp_path / "crash.dmp", Form(maps=False))
    with whocall.open_core(str(dump)) as image:
        for thread in image.threads:
            (stack,) = [m for m in image.native.mappings if m.begin <= thread.sp < m.end]
            assert "x" not in stack.permissions
