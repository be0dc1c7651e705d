"""Several overwritten return addresses in one stack: what is whole between them is found."""

from __future__ import annotations

import pytest

from acceptance.helpers import chains
from acceptance.returns.builds import (
    AARCH64,
    EVERY,
    I386,
    Case,
    Place,
    message,
    ours,
    places_of,
    witness,
)

CASES = [
    *(Case("damaged", build, (), depths) for build in EVERY for depths in ("3", "36", "247")),
    *(Case("damaged", build, (), depths) for build in AARCH64 for depths in ("3", "36")),
    *(Case("damaged", build, (), depths) for build in I386 for depths in ("3", "36")),
]


def _expected(case: Case) -> list[Place]:
    """The undisturbed chain without those whose return address was overwritten."""
    wanted, lost, depth = [], False, 0
    for place, name in zip(*witness(case)):
        if not lost:
            wanted.append(place)
        lost = name == "leaf"
        if name == "deep":
            lost = str(depth) in case.disturbed
            depth += 1
    return wanted


@pytest.mark.parametrize("case", CASES, ids=str)
def test_damaged_return_addresses(case: Case) -> None:
    trace = ours(case)
    wanted = _expected(case)
    found = places_of(chains.physical(trace))
    assert found == wanted, message(case, trace, wanted)
    assert trace.stop.reason == "end-of-stack"
