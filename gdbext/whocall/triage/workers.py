"""Many cores at once: on the processors of this machine, or on those of a Dask cluster.

A core that kills its process breaks the pool: the cores
that were under way are then tried again alone, and the one that kills again becomes a row with the
reason; what came before is not touched by it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections import deque
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whocall.base.blocked_signals import END, held
from whocall.base.errors import Error
from whocall.base.limits import (
    go_first_when_memory_is_short,
    limit_memory,
    limit_stack,
    memory_for,
)
from whocall.base.long_work import still_working
from whocall.base.optional_packages import lacking, need_of
from whocall.base.sandbox import confine_child, is_confined
from whocall.triage.pool import Pool, WorkerDiedError
from whocall.triage.work import Json, Settings, failure, work

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from concurrent.futures import Executor, Future

_LEDGER = "whocall-triage-"
AHEAD = 4  # cores handed out for each worker of a cluster: a bound for memory
LOOK_UP = 0.25  # seconds from one word to people who wait to the next
ANSWER = 5  # seconds for a scheduler to answer
TRIES = 2  # alone, of a core whose process died


def jobs_of(number: int | None) -> int:
    """How many workers, unless told: a processor for each."""
    return number or len(os.sched_getaffinity(0))


@contextmanager
def _safe_path() -> Iterator[None]:
    """Python starts its workers by `-c`, which looks for modules in the working directory first:
    where a stranger's cores were unpacked, his multiprocessing.py would run. From 3.11 on Python
    can be told to leave that out.
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


class Local:
    """Processes of this machine."""

    def __init__(self, jobs: int, settings: Settings) -> None:
        self._jobs, self._settings = jobs, settings
        self._deaths: dict[str, int] = {}
        self._barren = 0  # so many pools one after the other broke before anything was begun
        self._ledger = ""

    def results(self, paths: Iterable[str]) -> Iterator[Json]:
        """One of each core, as it comes."""
        sweep()
        with _ending_in_order():
            yield from self._results(paths)

    def _results(self, paths: Iterable[str]) -> Iterator[Json]:
        rest = iter(paths)
        again: deque[str] = deque()  # not begun when a pool broke
        alone: deque[str] = deque()  # under way then
        try:
            with held(END):
                self._ledger = tempfile.mkdtemp(prefix=f"{_LEDGER}{os.getpid()}-")
            while True:
                yield from self._pool(_chained(again, rest), self._jobs, again, alone)
                while alone:
                    one = deque([alone.popleft()])
                    yield from self._pool(_chained(one, iter(())), 1, again, alone)
                more = next(rest, None)
                if more is not None:
                    again.append(more)
                if not again:
                    return
        finally:
            shutil.rmtree(self._ledger, ignore_errors=True)

    def _pool(
        self, paths: Iterator[str], jobs: int, again: deque[str], alone: deque[str]
    ) -> Iterator[Json]:
        """Until the paths end or the pool breaks; `again` and `alone` get what is left then."""
        from multiprocessing import get_context

        memory = self._settings.memory or memory_for(self._jobs)
        # Of a process that must start no programs, Python too, the workers are copies; it has no
        # other threads when they are made.
        how = get_context("fork" if is_confined() else "spawn")
        with _safe_path():
            pool = Pool(jobs, how, _begin, memory, self._settings, self._ledger)
        try:
            yield from self._handed_out(pool, paths, again)
            return
        except WorkerDiedError:
            left = pool.under_way()
        finally:  # Ctrl-C, or nobody wants more: a core may hang
            pool.end()
        yield from self._judged(left, again, alone)

    def _handed_out(self, pool: Pool, paths: Iterator[str], again: deque[str]) -> Iterator[Json]:
        """Results of `paths`. Raises WorkerDiedError."""
        while True:
            while pool.wants() and (path := next(paths, None)) is not None:
                try:
                    pool.give(path)
                except WorkerDiedError:
                    again.append(path)
                    raise
            if not pool.under_way():
                return
            yield from pool.results(LOOK_UP)
            still_working()

    def _judged(self, left: list[str], again: deque[str], alone: deque[str]) -> Iterator[Json]:
        begun = self._begun()
        self._barren = 0 if begun else self._barren + 1
        if self._barren > TRIES:
            raise Error(
                "the processes that read the cores die before they begin; look at the limits on"
                " processes and memory (ulimit -a), or give more by --memory-limit"
            )
        for path in left:
            since = begun.get(path)
            limit = self._settings.limit
            if since is None:
                again.append(path)
            elif limit > 0 and time.monotonic() - since >= limit:
                yield failure(
                    path, f"it takes longer than {limit:g} s; see --time-limit", self._settings
                )
            elif self._deaths.setdefault(path, 0) >= TRIES:
                yield failure(
                    path, "the process that read it died, again and again", self._settings
                )
            else:
                self._deaths[path] += 1
                alone.append(path)

    def _begun(self) -> dict[str, float]:
        """Since when processes that have not finished work at what; their notes are taken."""
        found = {}
        for note in Path(self._ledger).iterdir():
            told = note.read_text(encoding="utf-8", errors="surrogateescape")
            since, _, path = told.partition("\n")
            if path:
                found[path] = float(since)
            note.unlink()
        return found


def _done_of(under_way: Iterable[Future[Json]]) -> set[Future[Json]]:
    """At least one that is done; who waits for it is told."""
    from concurrent.futures import FIRST_COMPLETED, wait

    while True:
        done = wait(under_way, timeout=LOOK_UP, return_when=FIRST_COMPLETED).done
        if done:
            return done
        still_working()


def _chained(first: deque[str], then: Iterator[str]) -> Iterator[str]:
    while first:
        yield first.popleft()
    yield from then


def _begin(memory: int) -> None:
    """Ctrl-C goes to all processes of a terminal; only the first one answers."""
    import signal

    go_first_when_memory_is_short()
    confine_child()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    limit_memory(memory)
    limit_stack()


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """A kill by SIGTERM or SIGHUP removes what was made, as Ctrl-C does."""
    import signal
    import threading

    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ended(number: int, frame: Any) -> None:
        raise SystemExit(128 + number)

    kept = {
        number: signal.signal(number, ended)
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is signal.SIG_DFL
    }
    try:
        yield
    finally:
        for number, before in kept.items():
            signal.signal(number, before)


def sweep() -> None:
    """Removes what runs of this user left behind that were killed."""
    for left in Path(tempfile.gettempdir()).glob(f"{_LEDGER}*-*"):
        pid = left.name[len(_LEDGER) :].partition("-")[0]
        try:
            is_ours = left.lstat().st_uid == os.geteuid() and not left.is_symlink()
        except OSError:
            continue
        if is_ours and pid.isdecimal() and not Path(f"/proc/{pid}").exists():
            shutil.rmtree(left, ignore_errors=True)


class Cluster:
    """The workers of a Dask scheduler. They see the same files by the same names, and have whocall
    installed.
    """

    def __init__(self, address: str, settings: Settings) -> None:
        """Raises Error where there is no scheduler, or no Dask here."""
        self._settings = settings
        try:
            from distributed import Client
        except ImportError as error:
            raise lacking(need_of("triage", "distributed")) from error
        try:
            self._client = Client(address, timeout=ANSWER)
        except (OSError, ValueError) as error:
            raise Error(
                f"{address}: no Dask scheduler answers there ({error}); start one with"
                " dask-scheduler"
            ) from error

    def results(self, paths: Iterable[str]) -> Iterator[Json]:
        """One of each core, as it comes."""
        try:
            workers = max(1, sum(self._client.ncores().values()))
            alone: list[str] = []
            yield from self._handed_out(iter(paths), workers * AHEAD, alone)
            for path in alone:  # whose worker died, be it over another core
                dead: list[str] = []
                yield from self._handed_out(iter([path]), 1, dead)
                if dead:
                    limit = f", or takes longer than {self._settings.limit:g} s"
                    told = limit if self._settings.limit > 0 else ""
                    yield failure(path, f"it kills the worker that reads it{told}", self._settings)
        finally:
            self._client.close()

    def _handed_out(self, paths: Iterator[str], most: int, dead: list[str]) -> Iterator[Json]:
        """Results of `paths`, `most` under way at a time; `dead` gets those that killed workers."""
        from distributed import KilledWorker

        executor: Executor = self._client.get_executor(pure=False)
        under_way: dict[Future[Any], str] = {}
        while True:
            while len(under_way) < most and (path := next(paths, None)) is not None:
                under_way[executor.submit(work_in_turn, path, self._settings)] = path
            if not under_way:
                return
            for future in _done_of(under_way):
                path = under_way.pop(future)
                try:
                    yield future.result()
                except KilledWorker:
                    dead.append(path)
                except Exception as error:
                    why = f"the worker failed: {type(error).__name__}: {error}"
                    yield failure(path, why, self._settings)


_turn: list[Any] = []


def work_in_turn(path: str, settings: Settings) -> Json:
    """work(), one at a time in a process: Dask's workers may have several threads."""
    import threading

    if not _turn:
        _turn.append(threading.Lock())
    with _turn[0]:
        return work(path, settings)
