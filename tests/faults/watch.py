"""Whether somebody opened a file."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_OPEN = 0x20  # IN_OPEN
_libc = ctypes.CDLL(None, use_errno=True)


class Openings:
    """Those of one file since the watch began."""

    def __init__(self, path: Path) -> None:
        self._events = _libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        watch = _libc.inotify_add_watch(self._events, os.fsencode(path), _OPEN)
        assert watch >= 0, os.strerror(ctypes.get_errno())

    def any(self) -> bool:
        """Whether there was one since this was asked for last."""
        try:
            return bool(os.read(self._events, 1 << 16))
        except BlockingIOError:
            return False

    def close(self) -> None:
        os.close(self._events)


@contextmanager
def watching(path: Path) -> Iterator[Openings]:
    """Tells of what happens meanwhile."""
    openings = Openings(path)
    try:
        yield openings
    finally:
        openings.close()
