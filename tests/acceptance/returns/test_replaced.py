"""Return addresses that were replaced by a trampoline's: whose it is is told, and the walk goes on.

The true address is with the tool, so the function that it belongs to cannot be found; each frame
above it can.
"""

from __future__ import annotations

import sys

import pytest
from oracles.tools import run

from acceptance.helpers import chains
from acceptance.helpers.broken_files import SCRIPT
from acceptance.returns.builds import (
    AARCH64,
    EVERY,
    GCC,
    I386,
    Case,
    Place,
    built,
    crashed,
    message,
    ours,
    places_of,
    witness,
)

HOOKED = {"leaf"}
ALL_HOOKED = {"leaf", "compare", "sorted", "deep"}
TWO_HOOKED = {"leaf", "sorted"}
CASES = [
    *(Case("replaced", build) for build in (*EVERY, *I386)),
    *(Case("replaced", build, ("EVERY",)) for build in (*GCC, "clang -O2")),
    *(Case("replaced", build, ("PAGE",)) for build in (*GCC, "clang -O2")),
    *(Case("replaced", build, ("PAGE", "TWICE")) for build in (*GCC, "clang -O2")),
    *(Case("replaced", build, ("ZEROS",)) for build in (*GCC, "clang -O2")),
    *(Case("replaced", build, ("MADE",)) for build in GCC),
    *(Case("replaced", build, ("CALLED",)) for build in (*GCC, "clang -O2")),
    *(Case("replaced", build, ("MOVED",)) for build in (*GCC, "clang -O2")),
    *(Case("replaced", build, ("TABLED",)) for build in (*GCC, "clang -O2")),
    Case("replaced", "gcc -O2 -static"),
    *(Case("replaced", build) for build in AARCH64),
    Case("replaced", "gcc -O2", ("TABLED", "EVERY")),
]


def _expected(case: Case) -> list[Place | str]:
    """The undisturbed chain, with one word for the frames whose address was taken away."""
    hooked = TWO_HOOKED if "TWICE" in case.defines else HOOKED
    hooked = ALL_HOOKED if "EVERY" in case.defines else hooked
    wanted: list[Place | str] = []
    replaced = False
    for place, name in zip(*witness(case)):
        if not replaced:
            wanted.append(place)
        elif wanted[-1] != "replaced":
            wanted.append("replaced")
        replaced = name in hooked
    return wanted


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_replaced_return_address(case: Case) -> None:
    trace = ours(case)
    frames = chains.physical(trace)
    found: list[Place | str] = [
        "replaced" if "return-replaced" in frame.evidence else place
        for frame, place in zip(frames, places_of(frames))
    ]
    if "MOVED" in case.defines:  # the call's own frame, in the page
        moved = found.pop(found.index("replaced") - 1)
        assert moved.file == "", message(case, trace, found)
    wanted = _expected(case)
    assert "replaced" in wanted, message(case, trace, wanted)
    if "EVERY" in case.defines:  # few are left between, and not all of these can be found
        rest = iter(wanted)
        assert all(place in rest for place in found), message(case, trace, wanted)
        assert found[:5] == wanted[:5], message(case, trace, wanted)
        assert found[-2:] == wanted[-2:], message(case, trace, wanted)
    else:
        assert found == wanted, message(case, trace, wanted)
    assert trace.stop.reason == "end-of-stack"
    made = built(case)
    for number, frame in enumerate(frames):
        if "return-replaced" in frame.evidence:
            assert frames[number + 1].trust == "scan"
            if frame.module is not None:
                assert made.name(places_of([frame])[0], activation=True) == "tramp"


def test_a_replaced_return_address_in_a_thread() -> None:
    case = Case("replaced", "gcc -O2", disturbed="t")
    trace = ours(case)
    names = [frame.function for frame in chains.physical(trace)]
    assert "qsort_r" in names
    assert trace.stop.reason == "end-of-stack", message(case, trace, "start_thread")


def test_the_words_are_the_same_with_explanations() -> None:
    """Text with more under each frame is written by others than text without."""
    case = Case("replaced", "gcc -O2")
    made, core = built(case), crashed(case).core
    words = "(a return address was replaced by that of #4: whocall searched"
    for more in ((), ("--explain",), ("--full",)):
        said = run([sys.executable, str(SCRIPT), "bt", *more, str(core), str(made.exe)])
        assert words in said, said
