"""Threads that wait for each other, as the reason why somebody ended the program."""

from __future__ import annotations

from whocall.report.causes.scene import Fact, Scene
from whocall.report.tables.waits import deadlocks

ENDS = ("abort", "sent")  # causes which say less than why


def deadlock(scene: Scene) -> Fact | None:
    """The first of them, in a program that somebody ended."""
    found = deadlocks(scene.image) if len(scene.image.threads) > 1 else []
    if not found:
        return None
    proof = "the locks' memory names their owners, and none of these waits has a limit in time"
    return Fact("deadlock", found[0][:1].lower() + found[0][1:].rstrip("."), proof)


def deadlock_of_ended(scene: Scene) -> Fact | None:
    """The same; None where nobody ended it."""
    was_ended = any(fact.kind in ENDS for fact in scene.facts)
    return deadlock(scene) if was_ended else None
