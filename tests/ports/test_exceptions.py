"""Walks by the exception tables of ARM: what callers of stripped programs are found by."""

from __future__ import annotations

from collections import Counter

import pytest

import whocall
from ports import voices
from ports.case import BuiltCase, cases
from ports.judge import Frame, judge
from ports.sets import SETS
from whocall.base.file_search import Search
from whocall.base.process_image import Walk

PROGRAMS = ("chain", "virtual_calls", "exception_in_catch", "signal_nested")


def walked(built: BuiltCase, *without: str) -> tuple[Counter[str], int]:
    """How often each trust occurs in all threads, and how many frames are false or missing."""
    search = Search(sysroot=built.sysroot)
    walk = Walk(past_main=True, lines=False, demangle=False, without=without)
    trusts: Counter[str] = Counter()
    wrong = 0
    with whocall.open_core(str(built.core), str(built.exe), search=search) as image:
        threads = image.report(walk=walk).threads
    for thread in threads:
        frames = [frame for frame in thread.frames if not frame.inlined]
        trusts.update(frame.trust for frame in frames[1:])
        truth = next(one for one in built.truth if one.tid == thread.lwp)
        verdict = judge([Frame(frame.pc, frame.trust != "scan") for frame in frames], truth)
        wrong += verdict.false + verdict.missing
    return trusts, wrong


@pytest.mark.parametrize("name", ["arm", "thumb"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_frames_that_have_called(name: str, program: str) -> None:
    """With tables most frames are found by them; hidden, by the instructions; both are true."""
    assert voices.is_ported(SETS[name])
    of_program = [case for case in cases(SETS[name], True) if case.program.name == program]
    assert of_program
    for case in of_program:
        built = case.kept()
        trusts, wrong = walked(built)
        hidden, wrong_without = walked(built, "cfi")
        assert (wrong, wrong_without) == (0, 0), case.name
        assert trusts["cfi"] > trusts["analysis"], (case.name, trusts)
        assert hidden["cfi"] == 0, (case.name, hidden)
