"""What other texts and pages say of frames and of their end as backtraces do."""

from __future__ import annotations

from collections.abc import Sequence

from whocall.base.model import Backtrace, Frame
from whocall.report.form.style import Style


def describe_function(frame: Frame) -> tuple[str, str]:
    """The frame's function and what stands behind it: ("main", " (+14)"), ("??", " ()")."""
    if frame.function is None:
        return "??", " ()"
    return frame.shown, " ()" if frame.offset is None else f" (+{frame.offset})"


def trust_words(frame: Frame) -> str:
    """`[cfi]`, `[cfi, inlined]`, `[scan?]`: what was only searched for has a mark."""
    mark = "?" if frame.trust == "scan" else ""
    return f"[{frame.trust}{mark}, inlined]" if frame.inlined else f"[{frame.trust}{mark}]"


def sentence(text: str) -> str:
    """`text` with a capital letter at its start and one full stop at its end."""
    text = text.strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def stop_line(trace: Backtrace) -> str:
    """Why the walk ended; empty for a clean end, which says nothing, as in gdb."""
    # Where it cannot be loaded, others ask in its stead.
    from whocall.base.native_module import native

    return native.stop_line(trace.stop.reason, trace.stop.detail)


def end_sentence(trace: Backtrace) -> str:
    """Why the chain ends where it ends cleanly; empty where stop_line() says why."""
    from whocall.base.native_module import native

    phrase = native.end_phrase(trace.stop.reason, trace.stop.detail)
    return sentence(phrase) if phrase else ""


def thread_title(traces: Sequence[Backtrace], style: Style, inferior: str = "") -> str:
    """`Thread 1 (LWP 4242 "prog", SIGSEGV):`, or for several with one stack
    `Threads 2..4, 7 (LWP 4243..4245, 4248) [4 threads, same stack]:`.
    """
    from whocall.base.native_module import native

    first = traces[0]
    line = native.title_line(
        numbers=[trace.number for trace in traces],
        lwps=[trace.lwp for trace in traces],
        name=first.name,
        signal=(first.signal or "") if first.crashed else "",
        inferior=inferior,
    )
    return style.paint("title", line)
