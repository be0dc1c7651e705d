"""Stock programs, stopped at any moment: whocall never has fewer frames than eu-stack.

Every frame of eu-stack's has to be whocall's, in its order, in each thread. Where eu-stack is known
to err (its walk ends in an error), that is left out, and nothing else. As many stops as one likes,
and all differences: `python3 -m acceptance.stacks`.
"""

from __future__ import annotations

import random

import pytest
from places.needs import ATTACHING

from acceptance.helpers.scoreboard import Scoreboard
from acceptance.stacks.anystops import at_any_moment
from acceptance.stacks.busy_programs import Busy, busy_programs

STOPS = 8
LEAST_PROGRAMS = 40
LEAST_STOPS = 5
PROGRAMS = busy_programs()


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= LEAST_PROGRAMS, [one.name for one in PROGRAMS]


@pytest.mark.needs(ATTACHING)
@pytest.mark.parametrize("one", PROGRAMS, ids=lambda one: one.name)
def test_no_frame_of_eu_stack_is_missing(one: Busy, scoreboard: Scoreboard) -> None:
    found = at_any_moment(one, random.Random(one.name), STOPS)
    seen = found.counts
    complaints = [str(each) for each in found.missing if each.complete]
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
