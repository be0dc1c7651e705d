"""Return addresses that were put on the stack by hand, and true ones that look like them."""

from __future__ import annotations

import pytest

from acceptance.helpers import chains
from acceptance.returns.builds import (
    AARCH64,
    EVERY,
    GCC,
    I386,
    Case,
    eu_names,
    message,
    names_of,
    ours,
    places_of,
)

STARTED = [
    *(Case("planted", build) for build in (*EVERY, *I386)),
    *(Case("planted", build, ("ZERO",)) for build in GCC),
    *(Case("planted", build, ("EXIT",)) for build in (*GCC, "clang -O2")),
    *(Case("planted", build, ("OWN",)) for build in (*GCC, "clang -O2")),
    *(Case("planted", build, ("FRAME",)) for build in (*GCC, "clang -O2")),
    *(Case("planted", build, ("FRAME", "OWN", "ZERO")) for build in GCC),
    Case("planted", "gcc -O2 -static"),
    *(Case("planted", build) for build in AARCH64),
    Case("planted", "gcc -O2 -no-pie"),
    Case("planted", "gcc -O2 -g"),
]
ENDS = {"EXIT": "_exit", "OWN": "own_end"}


@pytest.mark.parametrize("case", STARTED, ids=str)
def test_a_stack_ends_where_it_was_started_by_hand(case: Case) -> None:
    trace = ours(case)
    end = next((ENDS[one] for one in case.defines if one in ENDS), "abort")
    frames = chains.physical(trace)
    assert len(frames) in (2, 3), message(case, trace, end)
    assert names_of(case, trace)[:2] == ["crash", "body"], message(case, trace, end)
    if len(frames) == 3:
        last = frames[2]
        assert last.interrupted, message(case, trace, end)
        if end != "own_end" and "-static" not in case.build and "-no-pie" not in case.build:
            assert last.function == end
            assert last.offset == 0
        if end == "own_end":
            assert names_of(case, trace)[2] == end
    assert trace.stop.reason == "end-of-stack", message(case, trace, end)


TRUE = [
    Case("noreturn", build, defines, "")
    for build in GCC
    for defines in ((), ("THUNK",), ("THUNKS",), ("POINTER",))
]


@pytest.mark.parametrize("case", TRUE, ids=str)
def test_a_true_caller_of_what_never_returns(case: Case) -> None:
    trace = ours(case)
    wanted, names = eu_names(case, disturbed=True)
    assert names.count("fails") == 1
    assert places_of(chains.physical(trace)) == wanted, message(case, trace, names)
