"""Minidumps of other projects whose exception streams hold no si_code (flags 0)."""

from __future__ import annotations

import pytest
from causes.programs import happened
from places.needs import OTHERS, OTHERS_CORES

from whocall.base.file_search import Search
from whocall.triage.examine import examine
from whocall.triage.facts import Facts

# Of each: the kind of the first fact, what the sentence says, and the class.
EXPECTED = {
    "linux_divide_by_zero": ("fault", "an integer was divided by zero", "FPE"),
    "linux_executable_stack": (
        "null-access",
        "it was writing 4 bytes at 0x0, by",
        "DestAvNearNull",
    ),
    "linux_jmp_to_0": ("wild-jump", "control went to address 0", "SegFaultOnPcNearNull"),
    "linux_raise_sigabrt": ("sent", "the program sent SIGABRT to itself", "Undefined"),
}


@pytest.mark.needs(OTHERS_CORES)
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_breakpads(name: str) -> None:
    path = OTHERS / "breakpad" / f"{name}.dmp"
    kind, words, severity = EXPECTED[name]
    found = happened(path)
    assert [fact["kind"] for fact in found["facts"]] == [kind], found
    assert words in found["sentence"]
    assert examine(str(path), Search(), Facts(None))["kind"] == severity
