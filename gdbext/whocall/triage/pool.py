"""The processes that read cores, and what they say: JSON, looked at before it is used.

A stranger's core may have got the better of a process that read it. So nothing that comes from one
is taken for more than data: Python's own pools unpickle what their workers send, which runs what
these like in the process that keeps the store.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from whocall.base.errors import Error
from whocall.triage.work import RESULT_KEYS, Json, Settings, failure, work

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

_LONGEST = 64 << 20  # bytes of what is told of one core

_NONSENSE = "the process that read it told what makes no sense"
_TYPES = {"path": str, "size": int, "mtime": int, "engine": str, "frames": list,
          "left_out": list}  # fmt: skip


class WorkerDiedError(Exception):
    """One of the processes has ended."""


class _Worker:
    """One process, our end of its pipe, and the core that it has."""

    def __init__(self, process: BaseProcess, pipe: Connection) -> None:
        self.process = process
        self.pipe = pipe
        self.path: str | None = None


class Pool:
    """So many processes, which are handed cores in turn."""

    def __init__(
        self,
        jobs: int,
        how: BaseContext,
        begin: Callable[[int], None],
        memory: int,
        settings: Settings,
        ledger: str,
    ) -> None:
        self._settings = settings
        self._workers: list[_Worker] = []
        for _ in range(jobs):
            ours, theirs = how.Pipe()
            copied = how.get_start_method() == "fork"
            others = [*(each.pipe for each in self._workers), ours] if copied else []
            process = how.Process(  # type: ignore[attr-defined]
                target=_serve,
                args=(theirs, others, begin, memory, settings, ledger),
                daemon=True,
            )
            try:
                process.start()
            except OSError as error:
                self.end()
                raise Error(
                    f"the processes that read the cores cannot be started: {error.strerror}; look"
                    " at the limits on processes (ulimit -u), or ask for fewer by --jobs"
                ) from error
            theirs.close()
            self._workers.append(_Worker(process, ours))

    def wants(self) -> bool:
        """Whether a worker has nothing to do."""
        return any(worker.path is None for worker in self._workers)

    def give(self, path: str) -> None:
        """To one that has nothing to do. Raises WorkerDiedError."""
        worker = next(worker for worker in self._workers if worker.path is None)
        try:
            worker.pipe.send_bytes(os.fsencode(path))
        except OSError as error:
            raise WorkerDiedError from error
        worker.path = path

    def under_way(self) -> list[str]:
        """The cores of which nothing has been told."""
        return [worker.path for worker in self._workers if worker.path is not None]

    def results(self, seconds: float) -> Iterator[Json]:
        """What comes within that time. Raises WorkerDiedError when it has given all there is."""
        from multiprocessing.connection import wait

        died = False
        busy = [worker for worker in self._workers if worker.path is not None]
        ready = wait([worker.pipe for worker in busy], seconds)
        for worker in [worker for worker in busy if worker.pipe in ready]:
            assert worker.path is not None
            try:
                said = worker.pipe.recv_bytes(_LONGEST)
            except (EOFError, OSError):
                died = True
                continue
            path, worker.path = worker.path, None
            yield checked(said, path, self._settings)
        if died:
            raise WorkerDiedError

    def end(self) -> None:
        """Whatever they are at."""
        for worker in self._workers:
            worker.process.kill()
            worker.pipe.close()
        for worker in self._workers:
            worker.process.join()


def checked(said: bytes, path: str, settings: Settings) -> Json:
    """The result of the core `path`, out of what the process that read it has sent."""
    try:
        found = json.loads(said)
    except (ValueError, RecursionError):
        return failure(path, _NONSENSE, settings)
    if (
        not isinstance(found, dict)
        or set(found) != RESULT_KEYS
        or (found["path"], found["engine"]) != (path, settings.engine)
        or not all(
            found[key] is None or isinstance(found[key], kind) for key, kind in _TYPES.items()
        )
        or not all(isinstance(frame, dict) for frame in found["frames"] or ())
        or not isinstance(found["left_out"], list)
        or not all(isinstance(sentence, str) for sentence in found["left_out"])
    ):
        return failure(path, _NONSENSE, settings)
    return found


def _serve(
    pipe: Connection,
    others: list[Any],
    begin: Callable[[int], None],
    memory: int,
    settings: Settings,
    ledger: str,
) -> None:
    """What a worker does for as long as anyone asks. `others` are ends that are not its own."""
    for other in others:
        other.close()
    begin(memory)
    while True:
        try:
            path = os.fsdecode(pipe.recv_bytes())
        except (EOFError, OSError):
            return
        said = json.dumps(work(path, settings, ledger)).encode()
        try:
            pipe.send_bytes(said)
        except OSError:
            return
