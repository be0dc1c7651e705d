"""Addresses of threads that waited in the kernel when they were given something else to do."""

from __future__ import annotations

import pytest

from acceptance.helpers import chains
from acceptance.returns.builds import GCC, Case, eu_names, message, names_of, ours, places_of

CHAIN = ["crash", "work", "work", "work", "dispatch", "dispatcher", "wait_here", "waits", "above",
         "main"]  # fmt: skip
BUILDS = (*GCC, "clang -O1", "gcc -m32 -O1 -fno-pic -no-pie")


@pytest.mark.parametrize("build", BUILDS)
def test_what_stands_behind_a_system_call_is_whole(build: str) -> None:
    """It is no damaged address, though a call near it may have led there."""
    case = Case("delivered", f"{build} -fno-optimize-sibling-calls")
    trace = ours(case)
    assert names_of(case, trace)[: len(CHAIN)] == CHAIN, message(case, trace, CHAIN)
    assert {frame.trust for frame in trace.frames} == {"context", "cfi"}, chains.listing(trace)
    if "-m32" not in build:
        places, _ = eu_names(case, disturbed=True)
        assert places_of(chains.physical(trace)) == places[: len(chains.physical(trace))]
