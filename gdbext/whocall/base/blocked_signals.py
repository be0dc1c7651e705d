"""Signals that wait until something that has to be whole is done."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

END = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # what ends a command in order


@contextmanager
def held(signals: tuple[signal.Signals, ...]) -> Iterator[None]:
    """They come when the block is left."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
