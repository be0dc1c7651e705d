"""Why a runtime ended its program, for the second line above a backtrace and for its JSON."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.base.model import Report
    from whocall.base.process_image import ProcessImage
    from whocall.report.causes.scene import Fact

# How runtimes end a program.
_GAVE_UP = frozenset(("SIGABRT", "SIGILL", "SIGTRAP"))
_MOST_ASKED = 100  # threads: whom each of more waits for takes longer to find than all their stacks
_LONGEST = 400  # characters: the frames are what was asked for
_DEEPEST = 64  # frames: a runtime's own are the innermost


def last_words(image: ProcessImage, report: Report) -> str:
    """Of the one of its threads that crashed, in words that `whocall why` has as well, without a
    full stop, and printable; empty where no runtime ended it, which costs nothing, or where why is
    not proven.
    """
    for trace in report.threads:
        if trace.crashed and trace.signal in _GAVE_UP:
            return _of_thread(image, trace.lwp)
    return ""


def _of_thread(image: ProcessImage, lwp: int) -> str:
    from whocall.base.errors import Error
    from whocall.base.printable import printable

    index = next((at for at, each in enumerate(image.threads) if each.lwp == lwp), None)
    if index is None:
        return ""
    try:
        fact = _fact(image, index)
    except Error:  # the backtrace is what was asked for
        return ""
    text = "" if fact is None else printable(fact.text.rstrip("."))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... (`whocall why` has more of it)"


def _fact(image: ProcessImage, index: int) -> Fact | None:
    """Each look at the thread is paid for where the one before it found a reason for it alone."""
    from whocall.base.native_backtraces import walk_of
    from whocall.base.process_image import Walk
    from whocall.report.causes.speakers import may_have_spoken

    trace = image.backtrace(index, Walk(past_main=True, count=_DEEPEST))
    spoke = may_have_spoken(image.native.scene(walk_of(trace), trace.signal or ""), trace)
    asks_others = 1 < len(image.threads) <= _MOST_ASKED
    if not spoke and not asks_others:
        return None
    from whocall.report.causes.scene import Scene

    scene = Scene(image, index, trace)
    if not spoke:
        from whocall.report.causes.deadlock import deadlock_of_ended

        return deadlock_of_ended(scene)
    from whocall.report.causes import causes

    return causes.last_words(scene, asks_others=asks_others)
