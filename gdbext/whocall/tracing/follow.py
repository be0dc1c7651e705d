"""A trace that grows, told as it does: what is new since the last look."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from whocall.base.errors import Error
from whocall.report.form.style import Style, shown_line
from whocall.tracing.choice import Choice
from whocall.tracing.forms import telling_of
from whocall.tracing.names import TraceNames, no_names
from whocall.tracing.source import OpenTrace

TYPE_CHECKING = False

if TYPE_CHECKING:
    import whocall._native as native

_PAUSE = 0.5  # seconds between two looks


def _lives(process: int) -> bool:
    """One that only waits for its parent does not."""
    try:
        stat = Path("/proc", str(process), "stat").read_bytes()
    except OSError:
        return False
    return stat.rpartition(b")")[2].split()[:1] not in ([b"Z"], [b"X"])


class Follower:
    """Keeps of a trace how far it was told: `opened` opens it anew for each look."""

    def __init__(
        self,
        opened: Callable[[], AbstractContextManager[OpenTrace]],
        choice: Choice,
        demangle: bool,
        style: Style,
        process: int | None,
    ) -> None:
        self._opened = opened
        self._choice, self._demangle, self._style = choice, demangle, style
        self._told: dict[_Key, int] = {}  # by thread, the first event that is new
        self._names: TraceNames = no_names()
        self._origin = 0
        self._process = process

    def lives(self) -> bool:
        """Whether there may be more."""
        return self._process is None or _lives(self._process)

    def look(self) -> list[str]:
        """The lines that are new; whole before the process, which stands still for it, goes on.
        Raises Error where there is no trace.
        """
        with self._opened() as trace:
            if self._process is None and trace.threads:
                self._process = trace.threads[0].pid
            keys = [_key_of(thread) for thread in trace.threads]
            if not self._told.keys() & set(keys):  # another program, by exec
                self._names, self._origin = no_names(), trace.data.origin
            try:
                telling = telling_of(trace, self._choice, self._demangle, known=self._names)
            except Error:
                if not self._told and not self.lives():
                    raise
                return []  # what is wanted may come
            new = [self._told.get(key, 0) for key in keys]
            lines = [
                line for thread, first in zip(trace.threads, new) for line in _losses(thread, first)
            ]
            lines += telling.tree(self._style, (new, self._origin, True))
            self._told.update(zip(keys, (thread.next_event for thread in trace.threads)))
            return lines


_Key = tuple[int, int, int]


def _key_of(thread: native.TraceThread) -> _Key:
    """It stays the thread's, and is no other's."""
    return thread.pid, thread.serial, thread.registered


def _losses(thread: native.TraceThread, first: int) -> Iterator[str]:
    """Of events from that number on: those that the ring has lost, or that were written over while
    they were read.
    """
    lost = max(thread.next_event - first, 0) - thread.events_from(first) if first else 0
    if lost:
        yield shown_line(f"({lost:,} events of thread {thread.tid} were lost)") + "\n"


def follow(follower: Follower, write: Callable[[list[str]], None]) -> None:
    """Until the process has ended, or Ctrl-C. Raises Error where there is no trace."""
    write(follower.look())
    while True:
        lived = follower.lives()
        if lived:
            time.sleep(_PAUSE)
        try:
            lines = follower.look()
        except Error:
            if follower.lives():
                raise
            return  # it has ended, and what it had in memory is gone
        write(lines)
        if not lived:
            return
