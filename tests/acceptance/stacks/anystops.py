"""What whocall and eu-stack find of a program at work, stopped at any moment."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

from oracles import eu_stack
from oracles.tools import ToolError

from acceptance.helpers import chains
from acceptance.stacks.busy_programs import Busy, stopped
from whocall.base.errors import Error


@dataclass(frozen=True)
class Missing:
    """Frames of eu-stack's that whocall has not."""

    program: str
    lost: tuple[int, ...]
    complete: bool
    """Whether eu-stack came to the end of every stack: where it did not, its last frames are what
    led it astray.
    """
    listing: str

    def __str__(self) -> str:
        how = "" if self.complete else ", where its walk ended in an error"
        return (
            f"{self.program}: eu-stack alone has {list(map(hex, self.lost))}{how}\n{self.listing}"
        )


@dataclass
class Found:
    """Of all stops of a program: how many frames, and the differences."""

    counts: Counter[str] = field(default_factory=Counter)
    missing: list[Missing] = field(default_factory=list)


def at_any_moment(one: Busy, moments: random.Random, stops: int) -> Found:
    """Both tools' chains of each thread, as often as the program can be stopped."""
    found = Found()
    with stopped(one, moments, stops) as pids:
        for pid in pids:
            try:
                theirs = eu_stack.of_process(pid)
                ours = chains.of_process(pid)
            except (ToolError, Error, OSError):
                continue  # it has just ended
            for tid in theirs.threads.keys() & ours.keys():
                pcs, others = chains.pcs(ours[tid]), theirs.pcs()[tid]
                lost = chains.difference(pcs, others).missing
                found.counts["frames"] += len(pcs)
                found.counts["theirs"] += len(others)
                found.counts["missing"] += len(lost)
                if lost:
                    listing = f"{chains.listing(ours[tid])}\n  theirs: {' '.join(map(hex, others))}"
                    found.missing.append(Missing(one.name, lost, theirs.complete, listing))
            found.counts["stops"] += 1
    return found
