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
    ) -> None:
        self._opened = opened
        self._choice, self._demangle, self._style = choice, demangle, style
        self._told: dict[int, int] = {}  # by a thread's number, the first event that is new
        self._names: TraceNames = no_names()
        self._origin = 0
        self.process = 0  # that is traced

    def look(self) -> Iterator[str]:
        """The lines that are new. Raises Error where there is no trace."""
        with self._opened() as trace:
            self._origin = self._origin or trace.data.origin
            self.process = trace.threads[0].pid if trace.threads else 0
            for thread in trace.threads:
                first = self._told.get(thread.serial)
                if first is not None and thread.lost > first:
                    lost = thread.lost - first
                    yield shown_line(f"({lost:,} events of thread {thread.tid} were lost)") + "\n"
            telling = telling_of(trace, self._choice, self._demangle, known=self._names)
            new = [self._told.get(thread.serial, 0) for thread in trace.threads]
            yield from telling.tree(self._style, (new, self._origin, True))
            for thread in trace.threads:
                self._told[thread.serial] = thread.next_event


def follow(follower: Follower, write: Callable[[Iterator[str]], None]) -> None:
    """Until the process has ended, or Ctrl-C. Raises Error where there is no trace."""
    write(follower.look())
    while True:
        lived = _lives(follower.process)
        if lived:
            time.sleep(_PAUSE)
        try:
            write(follower.look())
        except Error:
            if _lives(follower.process):
                raise
            return  # it has ended, and what it had in memory is gone
        if not lived:
            return
