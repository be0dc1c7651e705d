"""The frames of a native backtrace as a sequence that makes them when they are asked for.

A stack that overflowed has a quarter of a million frames. As plain data each takes two kilobytes,
and of most of them only a glance is wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from whocall.core.model import Backtrace, Frame, OnDemand, Stop
from whocall.core.signals import signal_name

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import overload

    import whocall._native as native

KEPT = 4096  # of a chain that is no longer than this the frames are kept


def frame_from(found: native.Frame) -> Frame:
    """The native module's frame as plain data."""
    registers = found.registers
    return Frame(
        level=found.level,
        pc=found.pc,
        trust=found.trust,
        cfa=found.cfa,
        function=found.function,
        offset=found.offset,
        name_source=found.name_source,
        inferred=found.inferred,
        module=found.module,
        build_id=found.build_id,
        rva=found.rva,
        rests_on=found.rests_on,
        evidence=tuple(found.evidence),
        inlined=found.inlined,
        interrupted=found.interrupted,
        signal_trampoline=found.signal_trampoline,
        file=found.file,
        line=found.line,
        explanation=found.explanation,
        registers=registers,
        saved=None if registers is None else found.saved,
        aliases=tuple(found.aliases),
        sp=found.sp,
    )


class FrameChain(OnDemand):
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
            return frames_of(self._found, self._wanted[at])
        return frame_from(self._found[self._wanted[at]])

    def __iter__(self) -> Iterator[Frame]:
        return (frame_from(self._found[at]) for at in self._wanted)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(ours == theirs for ours, theirs in zip(self, other))

    def glance(self) -> Iterator[native.Frame]:
        """The native frames."""
        return (self._found[at] for at in self._wanted)


def frames_of(found: native.Backtrace, wanted: range | None = None) -> Sequence[Frame]:
    """The frames of `found` that `wanted` counts: all of them without it."""
    chain = FrameChain(found, wanted)
    return list(chain) if len(chain) <= KEPT else chain


def backtrace_from(found: native.Backtrace, thread: native.Thread, arch: str) -> Backtrace:
    """The native module's backtrace of `thread` as plain data."""
    return Backtrace(
        number=thread.number,
        lwp=thread.lwp,
        frames=frames_of(found),
        stop=Stop(found.stop_reason, found.stop_detail),
        name=thread.name,
        crashed=thread.crashed,
        signal=signal_name(arch, thread.signal),
        sp=thread.sp,
    )
