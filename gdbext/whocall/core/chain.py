"""The frames of a native backtrace as a sequence that makes them when they are asked for.

A stack that overflowed has a quarter of a million frames, and of most of them only a few values are
wanted, or their text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from whocall.core.engine import native
from whocall.core.model import Backtrace, Frame, OnDemand, Stop
from whocall.core.signals import signal_name

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, overload

BLOCK = 256  # frames that are made together
_FRAME = native.FrameClass(Frame)
_fields = lru_cache(native.FrameFields)


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
            return FrameChain(self._found, self._wanted[at])
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

    def json(self, margin: int) -> Iterator[str]:
        at = 0
        while at < len(self._wanted):
            text, at = self._found.json(self._wanted, at, margin)
            yield text

    def text(
        self, sp: int, fold: bool, pointer_size: int, style: Mapping[str, str]
    ) -> Iterator[str]:
        return self._found.text(self._wanted, sp, fold, pointer_size, dict(style))

    def _blocks(self) -> Iterator[range]:
        return (self._wanted[at : at + BLOCK] for at in range(0, len(self._wanted), BLOCK))


def backtrace_from(found: native.Backtrace, thread: native.Thread, arch: str) -> Backtrace:
    """The native module's backtrace of `thread` as plain data."""
    return Backtrace(
        number=thread.number,
        lwp=thread.lwp,
        frames=FrameChain(found),
        stop=Stop(found.stop_reason, found.stop_detail),
        name=thread.name,
        crashed=thread.crashed,
        signal=signal_name(arch, thread.signal),
        sp=thread.sp,
    )
