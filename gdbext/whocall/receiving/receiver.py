"""Hears of crashes for as long as it is wanted, some at a time, and keeps what is found.

One process cannot keep others waiting: who is silent holds a file of ours and nothing else, no wait
is without an end, and of those who wait one of a user comes first for whom nobody works yet.
"""

from __future__ import annotations

import json
import os
import resource
import selectors
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from whocall.base.errors import Error
from whocall.base.forked import how_it_ended
from whocall.base.records import dataclass
from whocall.receiving.greetings import Greeting, Listener, answer, has_gone
from whocall.receiving.store import Place, Store, drop
from whocall.receiving.worker import MOST_SAID, SECONDS, Work, begin

_RESERVE = 64  # files that we have beside those of who waits
_UNTIL_HEARD = 20.0  # seconds that a process may take for its record
_UNTIL_DONE = 45.0  # seconds that it may wait for its turn then
_LOOK_UP = 0.25  # seconds between two looks at clocks


@dataclass(frozen=True)
class _Job:
    """A process of ours that looks at one that has crashed."""

    greeting: Greeting
    worker: int
    told: int  # a pipe
    places: Sequence[Place]
    until: float  # by the clock that never goes back


def _most_files() -> int:
    """That may be open, as many as the kernel allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(soft if soft > 0 else 1 << 16, 1 << 16)


class Receiver:
    """`work` makes of new files what a worker does with them; `say` tells of each crash, or what
    went wrong with it.
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
        self._silent: dict[int, Greeting] = {}  # who has said nothing yet, by file
        self._waiting: list[Greeting] = []  # who has said what happened
        self._jobs: dict[int, _Job] = {}  # by worker
        self._most = max(os.cpu_count() or 1, 2)
        self._room = max(_most_files() - _RESERVE, 8)
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
                elif isinstance(key.data, Greeting):
                    self._hear(key.data)
                elif key.data is self:
                    self._selector.unregister(key.fileobj)
                else:
                    self._welcome()
            self._end_what_hangs()
            while self._waiting and len(self._jobs) < self._most:
                self._begin(self._take_next())

    def close(self) -> None:
        """Who still waits makes its report itself."""
        for job in list(self._jobs.values()):
            self._end(job)
            answer(job.greeting, "it was ended", is_made=False)
        for greeting in [*self._waiting, *self._silent.values()]:
            answer(greeting, "it was ended", is_made=False)
        self._selector.close()

    def _welcome(self) -> None:
        for greeting in self._listener.greetings(_UNTIL_HEARD):
            if self._has_room_for(greeting.user):
                self._silent[greeting.fileno()] = greeting
                self._selector.register(greeting, selectors.EVENT_READ, greeting)
            else:
                answer(greeting, "too many processes wait for it", is_made=False)

    def _has_room_for(self, user: int) -> bool:
        """One user may have a half of what there is."""
        own = sum(each.user == user for each in [*self._silent.values(), *self._waiting])
        return own < self._room // 2 and len(self._silent) + len(self._waiting) < self._room

    def _hear(self, greeting: Greeting) -> None:
        """What it has said is read by its worker."""
        self._selector.unregister(greeting)
        del self._silent[greeting.fileno()]
        if has_gone(greeting):
            greeting.channel.close()
        else:
            self._waiting.append(greeting)

    def _take_next(self) -> Greeting:
        users = [job.greeting.user for job in self._jobs.values()]
        first = min(self._waiting, key=lambda each: users.count(each.user))
        self._waiting.remove(first)
        return first

    def _begin(self, greeting: Greeting) -> None:
        places: Sequence[Place] = ()
        try:
            if time.monotonic() > greeting.until + _UNTIL_DONE:
                raise Error("too many processes wait for their reports")
            places = self._store.places(self._suffixes)
            worker, told = begin(greeting, self._work(places), self._close_in_worker)
        except (Error, OSError) as error:
            drop(places)
            self._refuse(greeting, error)
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
        for greeting in [*self._waiting, *self._silent.values()]:
            greeting.channel.close()

    def _end_what_hangs(self) -> None:
        now = time.monotonic()
        for job in self._jobs.values():
            if now > job.until:
                with suppress(ProcessLookupError):
                    os.kill(job.worker, signal.SIGKILL)  # it is heard of then
        for greeting in [each for each in self._silent.values() if now > each.until]:
            self._selector.unregister(greeting)
            del self._silent[greeting.fileno()]
            answer(greeting, "nothing was said in time", is_made=False)

    def _finish(self, job: _Job) -> None:
        said = os.read(job.told, MOST_SAID)
        self._selector.unregister(job.told)
        status = self._end(job)
        try:
            headline, paths = self._kept(job, said, status)
        except Error as error:
            self._refuse(job.greeting, error)
        else:
            answer(job.greeting, f"the report is in {paths[0]}", is_made=True)
            self._say(f"{headline}: {' '.join(paths)}")
        drop(job.places)

    def _end(self, job: _Job) -> int:
        """Whatever its user does to it. Returns its status."""
        with suppress(ProcessLookupError):
            os.kill(job.worker, signal.SIGKILL)
        status = os.waitpid(job.worker, 0)[1]
        del self._jobs[job.worker]
        os.close(job.told)
        return status

    def _kept(self, job: _Job, said: bytes, status: int) -> tuple[str, list[str]]:
        try:
            told = json.loads(said.decode(errors="surrogateescape"))
            told = {str(name): str(text) for name, text in told.items()}
        except (ValueError, RecursionError, AttributeError):
            number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            raise Error(f"the process that read it {how_it_ended(number, SECONDS)}") from None
        if told.keys() != {"headline", "program"}:
            raise Error(told.get("refused", "the process that read it has said nothing"))
        return told["headline"], self._store.keep(job.places, told["program"], job.greeting.process)

    def _refuse(self, greeting: Greeting, error: Exception) -> None:
        answer(greeting, str(error), is_made=False)
        self._say(f"process {greeting.process} has crashed, and is not told of: {error}")
