"""Folded stacks: a line for each different stack, its functions from the outermost on, and a count.

The form that flame graph programs read: `main;run;read 3`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from whocall.base.model import Backtrace, Report, rows
from whocall.base.model import marked as shown_name
from whocall.base.printable import printable

Stack = tuple[str, ...]
"""Names of frames, outermost first."""


def frame_names(trace: Backtrace) -> Stack:
    """What the frames of a thread are called, outermost first: `[libc.so.6]` where not even the
    start of the function is known, `[unknown]` outside of all modules.
    """
    names = []
    fields = ("function", "inferred", "module", "signal_trampoline")
    for function, inferred, module, trampoline in rows(trace.frames, *fields):
        if trampoline:
            names.append("<signal handler called>")
        elif function is not None:
            names.append(shown_name(function, inferred))
        else:
            names.append(f"[{module.rpartition('/')[2]}]" if module else "[unknown]")
    return tuple(reversed(names))


def folded(traces: Iterable[Backtrace]) -> dict[Stack, int]:
    """How many threads have each stack, in the order in which they came."""
    counts: dict[Stack, int] = {}
    for trace in traces:
        names = frame_names(trace)
        if names:
            counts[names] = counts.get(names, 0) + 1
    return counts


def _word(name: str) -> str:
    """A name without what ends one in this form."""
    return printable(name).replace(";", ":")


def folded_lines(stacks: Iterable[tuple[Sequence[str], int]]) -> Iterator[str]:
    """The lines, each with a newline."""
    for names, count in stacks:
        yield f"{';'.join(map(_word, names))} {count}\n"


def text(report: Report) -> Iterator[str]:
    """The stacks of all threads of a report."""
    yield from folded_lines(folded(report.threads).items())
