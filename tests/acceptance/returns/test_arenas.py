"""Stacks carved out of one piece of memory: a table that leads down it is believed."""

from __future__ import annotations

import pytest

from acceptance.helpers import chains
from acceptance.returns.builds import (
    AARCH64,
    EVERY,
    GCC,
    I386,
    Case,
    crashed,
    eu_names,
    message,
    names_of,
    ours,
    places_of,
)

MANY = "3142" * 40
"""More than a walk once allowed, and each stack again and again."""
CASES = [
    *(Case("arenas", build, (), "10") for build in (*EVERY, *I386)),
    *(Case("arenas", build, (), "021304") for build in GCC),
    *(Case("arenas", build, ("BSS",), "1021") for build in GCC),
    *(Case("arenas", build, ("FRAME",), "1021") for build in (*GCC, "clang -O2")),
    *(Case("arenas", build, ("BY_WORD",), "1021") for build in GCC),
    Case("arenas", "gcc -O2 -static", (), "310"),
    Case("arenas", "gcc -O2", (), MANY),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_table_that_leads_down(case: Case) -> None:
    trace = ours(case)
    wanted, names = eu_names(case, disturbed=True)
    assert names.count("hop") == len(case.disturbed) + 1
    assert places_of(chains.physical(trace)) == wanted, message(case, trace, names)
    assert trace.stop.reason == "end-of-stack"
    assert {frame.trust for frame in trace.frames} <= {"context", "cfi"}


@pytest.mark.parametrize("build", AARCH64)
def test_a_table_that_leads_down_on_aarch64(build: str) -> None:
    case = Case("arenas", build, (), "1021")
    trace = ours(case)
    wanted = ["crash", "hop", *["call_on_stack", "hop"] * 4, "main"]
    assert names_of(case, trace)[: len(wanted)] == wanted, message(case, trace, wanted)
    assert trace.stop.reason == "end-of-stack"
    assert {frame.trust for frame in trace.frames} <= {"context", "cfi"}


@pytest.mark.parametrize("build", GCC)
def test_a_table_that_counts_from_another_register(build: str) -> None:
    """eu-stack loses rbx, so the same switch by rbp says what is called by whom."""
    case = Case("arenas", build, ("BY_RBX",), "1021")
    _, names = eu_names(Case("arenas", build, (), "1021"), disturbed=True)
    trace = ours(case)
    assert names_of(case, trace) == names, message(case, trace, names)


@pytest.mark.parametrize("build", [*GCC, "clang -O2"])
def test_code_without_tables_that_leads_down(build: str) -> None:
    bare = Case(
        "arenas",
        f"{build} -fno-asynchronous-unwind-tables -fno-unwind-tables",
        ("NO_TABLES",),
        "10",
    )
    tabled = Case("arenas", build, (), "10")
    trace = ours(bare)
    _, names = eu_names(tabled, disturbed=True)
    assert names_of(bare, trace) == names, message(bare, trace, names)
    assert crashed(bare).core.exists()
