"""Functions of RISC-V that call a routine to save their registers (-msave-restore)."""

from __future__ import annotations

import pytest
from corpus.catalog import Program

import whocall
from ports.case import Case
from ports.judge import Frame, judge
from ports.matrix import OWN, Variant
from ports.sets import SETS
from whocall.base.file_search import Search
from whocall.base.process_image import Walk

PROGRAM = Program("saving_calls", str(OWN / "saving_calls.c"), flags=("-msave-restore",))


@pytest.mark.parametrize("link", ["pie", "static"])
@pytest.mark.parametrize("optimisation", ["Os", "O2"])
@pytest.mark.parametrize("has_pointer", [False, True])
def test_frames_are_found_without_tables(optimisation: str, has_pointer: bool, link: str) -> None:
    """All of the program's, by their code and not by luck."""
    variant = Variant("gcc", optimisation, has_pointer, link, extra=False)
    built = Case(SETS["riscv64"], PROGRAM, variant, tables=False).kept()
    walk = Walk(past_main=True, lines=False, demangle=False)
    search = Search(sysroot=built.sysroot)
    with whocall.open_core(str(built.core), str(built.exe), search=search) as image:
        (thread,) = image.report(walk=walk).threads
    (truth,) = built.truth
    found = [Frame(frame.pc, frame.trust != "scan") for frame in thread.frames]
    verdict = judge(found, truth)
    assert verdict.complaints == ()
    assert all(frame.sure for frame in found), [frame.trust for frame in thread.frames]
    assert [truth.function_at(frame.pc - (at > 0)) for at, frame in enumerate(found)][:5] == [
        "fault", "few", "many", "large", "main"
    ]  # fmt: skip
