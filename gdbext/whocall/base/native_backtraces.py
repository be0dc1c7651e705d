"""The frames of native backtraces, and these themselves, as sequences that make them when they are
asked for.

A stack that overflowed has a quarter of a million frames, and of most of them only a few values are
wanted, or nothing but the text that native code writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from whocall.base.errors import Error
from whocall.base.model import Backtrace, Frame, OnDemand, Stop, TextForm, WrittenThreads
from whocall.base.native_errors import native_errors
from whocall.base.native_module import native

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, overload

# Of a thread: its index among the image's, its number, whether it crashed, its signal or "".
Head = tuple[int, int, bool, str]
BLOCK = 256  # frames that are made together
_FRAME = native.FrameClass(Frame)
_fields = lru_cache(native.FrameFields)


class FrameSequence(OnDemand):
    """The frames of `found` that `wanted` counts, innermost first."""

    def __init__(self, found: native.Backtrace, wanted: range | None = None) -> None:
        self._found = found
        self._wanted = range(len(found)) if wanted is None else wanted

    def __len__(self) -> int:
        return len(self._wanted)

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, at: int) -> Frame: ...
        @overload
        def __getitem__(self, at: slice) -> Sequence[Frame]: ...

    def __getitem__(self, at: int | slice) -> Frame | Sequence[Frame]:
        if isinstance(at, slice):
            return FrameSequence(self._found, self._wanted[at])
        number = self._wanted[at]
        made: list[Frame] = self._found.objects(_FRAME, range(number, number + 1))
        return made[0]

    def __iter__(self) -> Iterator[Frame]:
        return chain.from_iterable(self._found.objects(_FRAME, block) for block in self._blocks())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(ours == theirs for ours, theirs in zip(self, other))

    def __repr__(self) -> str:
        return repr(list(self))

    def rows(self, fields: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        values = _fields(tuple(fields))
        return chain.from_iterable(self._found.rows(values, block) for block in self._blocks())

    def gaps(self) -> Sequence[tuple[int, int, int]]:
        return self._found.gaps(self._wanted)

    def text(self, threads: Sequence[Backtrace], form: TextForm) -> str:
        return "".join(written(threads).text(form, {}))

    @property
    def source(self) -> tuple[native.Backtrace, range]:
        """The walk, and which of its frames these are."""
        return self._found, self._wanted

    def _blocks(self) -> Iterator[range]:
        return (self._wanted[at : at + BLOCK] for at in range(0, len(self._wanted), BLOCK))


def trace_of(
    thread: native.Thread, head: Head, found: native.Backtrace, shown: range, stop: Stop
) -> Backtrace:
    """The frames of `found` that are `shown`, as plain data."""
    _, number, crashed, signal = head
    return Backtrace(
        number=number,
        lwp=thread.lwp,
        frames=FrameSequence(found, shown),
        stop=stop,
        name=thread.name,
        crashed=crashed,
        signal=signal or None,
        sp=thread.sp,
    )


def walk_of(trace: Backtrace) -> native.Backtrace:
    """The whole walk that it is of. Raises Error where no process image gave it."""
    if not isinstance(trace.frames, FrameSequence):
        raise Error("frames that no process image gave are of no walk")
    return trace.frames.source[0]


class TraceList(WrittenThreads):
    """The backtraces of `threads` that `found` has; `heads` belong to these."""

    def __init__(
        self, found: native.ThreadsReport, heads: Sequence[Head], threads: Sequence[native.Thread]
    ) -> None:
        self.found = found
        self._heads = heads
        self._threads = threads
        self._made: dict[int, Backtrace] = {}

    @classmethod
    def of(cls, traces: Sequence[Backtrace]) -> TraceList:
        """Of some backtraces of one process image, or parts of them. Raises Error for others."""
        shown = []
        for trace in traces:
            if not isinstance(trace.frames, FrameSequence):
                raise Error("text is written of backtraces as a process image gives them")
            head = (trace.number, trace.crashed, trace.signal or "")
            shown.append((*trace.frames.source, *head, trace.stop.reason, trace.stop.detail))
        with native_errors():
            made = cls(native.ThreadsReport(shown), [(0, *found[2:5]) for found in shown], [])
        made._made = dict(enumerate(traces))
        return made

    def __len__(self) -> int:
        return len(self._heads)

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, at: int) -> Backtrace: ...
        @overload
        def __getitem__(self, at: slice) -> Sequence[Backtrace]: ...

    def __getitem__(self, at: int | slice) -> Backtrace | Sequence[Backtrace]:
        if isinstance(at, slice):
            return [self[number] for number in range(len(self))[at]]
        number = range(len(self))[at]
        made = self._made.get(number)
        if made is None:
            found, shown, reason, detail = self.found.trace(number)
            head = self._heads[number]
            stop = Stop(reason, detail)
            made = self._made[number] = trace_of(self._threads[head[0]], head, found, shown, stop)
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def json(self, margin: int, arguments: bool, last_words: str = "") -> Iterator[str]:
        return self.found.json(margin, arguments, last_words)

    def text(self, form: TextForm, style: Mapping[str, str]) -> Iterator[str]:
        return self.found.text(form, dict(style))

    def groups(self) -> Sequence[Sequence[int]]:
        return self.found.groups()

    def resting(self, number: int) -> str:
        return self.found.resting(number)


def written(threads: Sequence[Backtrace]) -> WrittenThreads:
    """What of native code can write these backtraces. Raises Error where they are not of one
    process image.
    """
    return threads if isinstance(threads, WrittenThreads) else TraceList.of(threads)
