"""What happened, on instruction sets where a call leaves its return address in a register: that one
may be of an earlier call.
"""

from __future__ import annotations

from typing import Any

import pytest
from oracles.tools import run

import whocall
from ports.case import BuiltCase, cases
from ports.sets import SETS
from whocall.base.file_search import Search
from whocall.base.process_image import Walk
from whocall.report.causes.happened import what_happened

# Of each program: the kinds of causes that may be told. return_smashed returns to 0x41414140; by
# what, the registers do not tell where a return takes its address from one.
MAY_BE_TOLD = {
    "null_call": {"null-call"},
    "return_smashed": {"smashed-return", "wild-jump"},
    "chain": {"null-access"},
}
BY_INSTRUCTION = {"chain"}


def happened(built: BuiltCase) -> tuple[dict[str, Any], int]:
    """What is told, and how many instructions are listed around the place."""
    search = Search(sysroot=built.sysroot)
    with whocall.open_core(str(built.core), str(built.exe), search=search) as image:
        index = image.index_of_crash()
        trace = image.backtrace(index, Walk(past_main=True, lines=False))
        caller = trace.frames[1]
        listed = len(image.native.listing(caller.pc, caller.pc - (caller.offset or 0)))
        return what_happened(image, index, trace), listed


@pytest.mark.parametrize("name", sorted(SETS))
@pytest.mark.parametrize("program", sorted(MAY_BE_TOLD))
def test_no_more_is_told_than_is_proved(name: str, program: str) -> None:
    built = next(c for c in cases(SETS[name], True) if c.program.name == program).kept()
    found, listed = happened(built)
    kinds = {fact["kind"] for fact in found["facts"]}
    shown = (
        int(run(["pkg-config", "--modversion", "capstone"]).split(".")[0]) >= SETS[name].capstone
    )
    assert kinds <= MAY_BE_TOLD[program], found
    assert bool(kinds) == (shown or program not in BY_INSTRUCTION), found
    assert found["sentence"].startswith(f"{program} was ended by SIGSEGV")
    assert listed > 3
