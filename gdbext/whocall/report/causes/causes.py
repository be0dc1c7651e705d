"""What led to a crash, as far as it is proven: what native code sees of registers, memory and the
kernel's words (`native/report/causes/causes.h`), and the last words of runtimes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from whocall.report.causes.cxx_exception import terminate
from whocall.report.causes.deadlock import ENDS, deadlock, deadlock_of_ended
from whocall.report.causes.messages import messages
from whocall.report.causes.scene import Fact, Scene

# A closer look says the same and more.
_TOLD_BY: Mapping[str, Collection[str]] = {
    **dict.fromkeys(
        ("assertion", "abort-message", "panic", "exception", "fatal-error"), ("abort", "sent")
    ),
    "stack-smashing": ("abort", "sent"),
    "stack-overflow": ("fault", "abort", "sent", "handled"),
}


def last_words(scene: Scene, asks_others: bool) -> Fact | None:
    """Why the thread's runtime, or somebody else, ended the program, in the most telling fact. What
    the other threads wait for takes time with their number: it `asks_others`, or is silent on that.
    """
    for fact in (*messages(scene), terminate(scene)):
        if fact is not None:
            return fact
    return deadlock_of_ended(scene) if asks_others else None


def causes(scene: Scene) -> list[Fact]:
    """All that is known, the most telling first."""
    ends = next((at for at, fact in enumerate(scene.facts) if fact.kind in ENDS), None)
    was_ended = ends is not None
    wider = [terminate(scene), deadlock(scene) if was_ended else None]
    proven = list(scene.facts)
    at = ends if ends is not None else len(proven)
    proven[at:at] = [fact for fact in wider if fact is not None]
    found = [*messages(scene), *proven]
    kinds = {fact.kind for fact in found}
    told = set().union(*(_TOLD_BY.get(kind, ()) for kind in kinds))
    return [fact for fact in found if fact.kind not in told]
