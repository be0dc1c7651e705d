"""Why a runtime ended its program, for the second line above a backtrace."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.core.model import Report
    from whocall.core.process_image import ProcessImage

# How runtimes end a program.
_GAVE_UP = frozenset(("SIGABRT", "SIGILL", "SIGTRAP"))
# What tells why one did, rather than how.
_KINDS = frozenset(
    ("abort-message", "assertion", "deadlock", "exception", "fatal-error", "panic",
     "stack-smashing")
)  # fmt: skip
_MOST_THREADS = 100  # whom each of more waits for takes longer to find than all their stacks
_DEEPEST = 64  # frames: a runtime's own are the innermost


def last_words(image: ProcessImage, report: Report) -> bytes:
    """Of the one of its threads that crashed, in words that `whocall why` has as well, without a
    full stop; empty where no runtime ended it, which costs nothing, where there are very many
    threads, or where why is not proven.
    """
    if len(image.threads) > _MOST_THREADS:
        return b""
    for trace in report.threads:
        if trace.crashed and trace.signal in _GAVE_UP:
            return _of_thread(image, trace.lwp)
    return b""


def _of_thread(image: ProcessImage, lwp: int) -> bytes:
    from whocall.core.errors import Error
    from whocall.core.process_image import Walk
    from whocall.report.page.happened import what_happened

    index = next((at for at, each in enumerate(image.threads) if each.lwp == lwp), None)
    if index is None:
        return b""
    try:
        trace = image.backtrace(index, Walk(past_main=True, count=_DEEPEST))
        facts = what_happened(image, index, trace)["facts"]
    except Error:  # the backtrace is what was asked for
        return b""
    if not facts or facts[0]["kind"] not in _KINDS:
        return b""
    text: str = facts[0]["text"]
    return text.rstrip(".").encode("utf-8", "surrogateescape")
