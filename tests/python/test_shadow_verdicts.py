"""The verdicts on a walked stack beside a shadow stack, of stacks that are written down here."""

from __future__ import annotations

from whocall.base.model import Backtrace, Frame, Stop
from whocall.tracing.shadow import Activation, ShadowComparison, compare_shadow, summary

# main (0x1000) calls work (0x2000), which calls leaf (0x3000), which calls abort (0x9000).
ABORT = Frame(0, 0x9010, "context", 0x7F00, "abort", 0x10)
LEAF = Frame(1, 0x3010, "cfi", 0x7F20, "leaf", 0x10)
WORK = Frame(2, 0x2010, "cfi", 0x7F40, "work", 0x10)
MAIN = Frame(3, 0x1010, "cfi", 0x7F60, "main", 0x10)
START = Frame(4, 0x500, "cfi", None, "_start", 0x20)
SHADOW = [
    Activation(0x3000, 0x2010, 0x7F20, "leaf", False),
    Activation(0x2000, 0x1010, 0x7F40, "work", False),
    Activation(0x1000, 0x500, 0x7F60, "main", False),
]
KNOWN = {0x1000, 0x2000, 0x3000}


def judged(*frames: Frame, shadow: list[Activation] = SHADOW) -> ShadowComparison:
    trace = Backtrace(1, 77, frames, Stop("end-of-stack"))
    return compare_shadow(trace, shadow, KNOWN, exact=True)


def verdicts(found: ShadowComparison) -> list[str]:
    return [row.verdict for row in found.rows]


def test_the_same() -> None:
    found = judged(ABORT, LEAF, WORK, MAIN, START)
    assert verdicts(found) == ["not recorded", "same", "same", "same", "not recorded"]
    assert found.agrees
    assert summary(found).startswith("whocall has 3 of the shadow stack's 3 activations, and no")


def test_a_missing_frame() -> None:
    found = judged(ABORT, LEAF, MAIN, START)
    assert verdicts(found).count("missing") == 2  # of the frame after it the caller is wrong, too
    assert not found.agrees


def test_a_frame_of_a_function_that_was_not_called() -> None:
    extra = Frame(2, 0x3044, "scan", 0x7F30, "leaf", 0x44)
    leaf = Activation(0x3000, 0x3044, 0x7F20, "leaf", False)
    found = judged(ABORT, LEAF, extra, WORK, MAIN, START, shadow=[leaf, *SHADOW[1:]])
    assert verdicts(found).count("false") == 1
    assert "1 frames more than were called" in summary(found)


def test_another_function() -> None:
    wrong = Frame(2, 0x2010, "cfi", 0x7F40, "other", 0x4)
    found = judged(ABORT, LEAF, wrong, MAIN, START)
    assert verdicts(found)[2] == "other function"
    assert not found.agrees


def test_inlined_and_moved_parts() -> None:
    """An inlined function has no frame; the cold part of a function begins elsewhere."""
    inlined = Activation(0x4000, 0x1010, 0x7F40, "helper", True)
    cold = Frame(1, 0x8010, "cfi", 0x7F20, "leaf.cold", 0x10)
    found = judged(ABORT, cold, WORK, MAIN, START, shadow=[SHADOW[0], inlined, *SHADOW[1:]])
    assert verdicts(found) == ["not recorded", "same", "inlined", "same", "same", "not recorded"]


def test_a_recursion_is_not_inlined() -> None:
    """It returns to one place again and again, each time out of a frame of its own."""
    deeper = Activation(0x2000, 0x2010, 0x7F20, "work", True)
    frames = (Frame(1, 0x2010, "cfi", 0x7F20, "work", 0x10), WORK, MAIN, START)
    found = judged(ABORT, *frames, shadow=[deeper, *SHADOW[1:]])
    assert verdicts(found) == ["not recorded", "same", "same", "same", "not recorded"]
