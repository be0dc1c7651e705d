"""Hears of crashes for as long as it is wanted, some at a time, and keeps what is found."""

from __future__ import annotations

import json
import os
import selectors
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from whocall.base.errors import Error
from whocall.base.forked import how_it_ended
from whocall.base.records import dataclass
from whocall.receiving.greetings import Greeting, Listener, answer
from whocall.receiving.store import Place, Store, drop
from whocall.receiving.worker import SECONDS, Work, begin

_MOST_WAITING = 1000  # processes: each holds a file of ours
_LOOK_UP = 0.25  # seconds between two looks at clocks


def _untold(greeting: Greeting, error: Exception) -> str:
    return f"process {greeting.peer.process} has crashed, and is not told of: {error}"


@dataclass(frozen=True)
class _Job:
    """A process of ours that looks at one that has crashed."""

    greeting: Greeting
    worker: int
    told: int  # a pipe
    places: Sequence[Place]
    until: float  # by the clock that never goes back


class Receiver:
    """`files` makes of new files what a worker writes with; `say` tells of each crash, or what went
    wrong with it.
    """

    def __init__(
        self,
        listener: Listener,
        store: Store,
        suffixes: Sequence[str],
        work: Callable[[Sequence[Place]], Work],
        say: Callable[[str], None],
    ) -> None:
        self._listener, self._store = listener, store
        self._suffixes, self._work, self._say = suffixes, work, say
        self._waiting: deque[Greeting] = deque()
        self._jobs: dict[int, _Job] = {}  # by worker
        self._most = max(os.cpu_count() or 1, 2)
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)

    def run(self, is_wanted: Callable[[], bool], until: int | None = None) -> None:
        """Until it is not wanted any more, and nobody waits. What can be read of `until` then is
        heard of at once.
        """
        if until is not None:
            self._selector.register(until, selectors.EVENT_READ, self)
        while is_wanted() or self._jobs or self._waiting:
            for key, _ in self._selector.select(_LOOK_UP):
                if isinstance(key.data, _Job):
                    self._finish(key.data)
                elif key.data is self:
                    self._selector.unregister(key.fileobj)
                else:
                    self._hear()
            self._end_what_hangs()
            while self._waiting and len(self._jobs) < self._most:
                self._begin(self._waiting.popleft())

    def close(self) -> None:
        """Who still waits makes its report itself."""
        for job in list(self._jobs.values()):
            with suppress(ProcessLookupError):
                os.kill(job.worker, signal.SIGKILL)
            self._leave(job)
        for greeting in self._waiting:
            greeting.channel.close()
        self._selector.close()

    def _hear(self) -> None:
        for greeting in self._listener.greetings():
            if len(self._waiting) < _MOST_WAITING:
                self._waiting.append(greeting)
            else:
                greeting.channel.close()

    def _begin(self, greeting: Greeting) -> None:
        places: Sequence[Place] = ()
        try:
            places = self._store.places(self._suffixes)
            worker, told = begin(greeting, self._work(places), self._close_in_worker)
        except (Error, OSError) as error:
            drop(places)
            greeting.channel.close()
            self._say(_untold(greeting, error))
            return
        job = _Job(greeting, worker, told, places, time.monotonic() + SECONDS)
        self._jobs[worker] = job
        self._selector.register(told, selectors.EVENT_READ, job)

    def _close_in_worker(self) -> None:
        """Else a process that crashed would wait for workers of others to end."""
        self._listener.close(for_good=False)
        for job in self._jobs.values():
            job.greeting.channel.close()
            drop(job.places)
        for greeting in self._waiting:
            greeting.channel.close()

    def _end_what_hangs(self) -> None:
        for job in self._jobs.values():
            if time.monotonic() > job.until:
                with suppress(ProcessLookupError):
                    os.kill(job.worker, signal.SIGKILL)  # it is heard of then

    def _finish(self, job: _Job) -> None:
        said = os.read(job.told, 1 << 16)
        self._selector.unregister(job.told)
        status = os.waitpid(job.worker, 0)[1]
        try:
            headline, paths = self._kept(job, said, status)
        except Error as error:
            self._say(_untold(job.greeting, error))
        else:
            answer(job.greeting, f"the report is in {paths[0]}")
            self._say(f"{headline}: {' '.join(paths)}")
        self._leave(job, is_there=False)

    def _kept(self, job: _Job, said: bytes, status: int) -> tuple[str, list[str]]:
        try:
            told = json.loads(said)
        except ValueError:
            number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            raise Error(f"the process that read it {how_it_ended(number, SECONDS)}") from None
        if "refused" in told:
            raise Error(told["refused"])
        process = job.greeting.peer.process
        return told["headline"], self._store.keep(job.places, told["program"], process)

    def _leave(self, job: _Job, is_there: bool = True) -> None:
        if is_there:
            os.waitpid(job.worker, 0)
        del self._jobs[job.worker]
        os.close(job.told)
        job.greeting.channel.close()
        drop(job.places)
