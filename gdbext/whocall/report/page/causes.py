"""What led to a crash, as far as it is proven: what native code sees of registers, memory and the
kernel's words (`native/report/causes.h`), and the last words of runtimes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from whocall.report.page.cxx_exception import terminate
from whocall.report.page.messages import messages
from whocall.report.page.scene import Fact, Scene

_ENDS = ("abort", "sent")  # which say less than why
# A closer look says the same and more.
_TOLD_BY: Mapping[str, Collection[str]] = {
    **dict.fromkeys(
        ("assertion", "abort-message", "panic", "exception", "fatal-error"), ("abort", "sent")
    ),
    "stack-smashing": ("abort", "sent"),
    "stack-overflow": ("fault", "abort", "sent"),
}


def causes(scene: Scene) -> list[Fact]:
    """All that is known, the most telling first."""
    proven, ended = [], terminate(scene)
    for fact in scene.facts:
        if fact.kind in _ENDS and ended is not None:
            proven.append(ended)
            ended = None
        proven.append(fact)
    found = [*messages(scene), *proven, *([] if ended is None else [ended])]
    kinds = {fact.kind for fact in found}
    told = set().union(*(_TOLD_BY.get(kind, ()) for kind in kinds))
    return [fact for fact in found if fact.kind not in told]
