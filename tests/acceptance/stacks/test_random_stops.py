"""Stock programs, stopped at any moment: whocall never has fewer frames than eu-stack.

Every frame of eu-stack's has to be whocall's, in its order, in each thread. Where eu-stack is known
to err, the reason stands below; nothing else is left out.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest
from oracles import eu_stack
from oracles.tools import ToolError
from places.needs import ATTACHING

from acceptance.helpers import chains
from acceptance.helpers.scoreboard import Scoreboard
from acceptance.stacks.busy_programs import Busy, busy_programs, stopped
from whocall.core.errors import Error

STOPS = 8
LEAST_PROGRAMS = 40
LEAST_STOPS = 5
PROGRAMS = busy_programs()


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= LEAST_PROGRAMS, [one.name for one in PROGRAMS]


def _lost(ours: Sequence[int], theirs: Sequence[int]) -> list[int]:
    """Frames of theirs that ours has not, up to the last one that eu-stack was sure of."""
    return list(chains.difference(ours, theirs).missing)


@pytest.mark.needs(ATTACHING)
@pytest.mark.parametrize("one", PROGRAMS, ids=lambda one: one.name)
def test_no_frame_of_eu_stack_is_missing(one: Busy, scoreboard: Scoreboard) -> None:
    seen: Counter[str] = Counter()
    complaints: list[str] = []
    with stopped(one, random.Random(one.name), STOPS) as moments:
        for pid in moments:
            try:
                theirs = eu_stack.of_process(pid)
                ours = chains.of_process(pid)
            except (ToolError, Error, OSError):
                continue  # it has just ended
            for tid in theirs.threads.keys() & ours.keys():
                found = chains.pcs(ours[tid])
                lost = _lost(found, theirs.pcs()[tid])
                seen["frames"] += len(found)
                seen["theirs"] += len(theirs.pcs()[tid])
                seen["missing"] += len(lost)
                if lost and theirs.complete:
                    complaints.append(f"{one.name}: {list(map(hex, lost))}\n"
                                      f"{chains.listing(ours[tid])}")  # fmt: skip
            seen["stops"] += 1
    rows = scoreboard.table(
        "Stock programs at any moment: eu-stack",
        "program",
        "stops",
        "frames",
        "eu-stack's",
        "missing",
    ).rows
    rows.append((one.name, seen["stops"], seen["frames"], seen["theirs"], seen["missing"]))
    assert not complaints, "\n".join(complaints)
    assert seen["stops"] >= LEAST_STOPS, seen
