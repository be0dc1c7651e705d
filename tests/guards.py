"""What is not to hang or to grow with the square of its work is guarded, and never measured: a
guard is far above what the work takes, so that no busy machine fails a test.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

LIMIT = 60.0


class OverLimitError(AssertionError):
    """The work has used more processor time than it may."""


@contextmanager
def guarded(seconds: float = LIMIT) -> Iterator[None]:
    """The block may use so much processor time of this process."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise OverLimitError(f"more than {seconds:.1f} s of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
