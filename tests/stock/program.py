"""A stock program: how it is started, when it is deep enough, and how it is dumped and put away
again.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from artifact_cache import Tool, compilers, kept, sources

from stock import procfs
from stock.gcore import gcore

HERE = Path(__file__).parent
READY_FD_VARIABLE = "STOCK_READY_FD"


@dataclass(frozen=True)
class StockCore:
    """A core file, the executable that it came from, and the name of the stock program."""

    core: Path
    exe: Path
    name: str
    loaded: tuple[Path, ...] = ()
    """All files that were mapped."""


@dataclass
class Launched:
    """A started program. `ready` is the reading end of the pipe on which a script announces that it
    is in place.
    """

    process: subprocess.Popen[bytes]
    ready: int

    def read_ready_pid(self) -> int:
        """Wait for the announcement, one line with a process id (a subshell's differs from the one
        we started).
        """
        line = b""
        while not line.endswith(b"\n"):
            readable, _, _ = select.select([self.ready], [], [], procfs.PATIENCE_SECONDS)
            piece = os.read(self.ready, 64) if readable else b""
            if not piece:
                raise procfs.NotReachedError(f"{self.process.args!r} did not come in place")
            line += piece
        return int(line)

    def wait_for(self, reached: Callable[[], bool], what: str) -> None:
        """Like `procfs.wait_for`, and notice when the program ends instead."""

        def alive_and_reached() -> bool:
            if self.process.poll() is not None:
                raise procfs.NotReachedError(
                    f"{self.process.args!r} exited with {self.process.returncode}, not {what}"
                )
            return reached()

        procfs.wait_for(alive_and_reached, f"{self.process.args!r} {what}")


Arrival = Callable[[Launched], int]
"""Waits until the launched program is in place and returns the id of the process that is to be
looked at.
"""


@dataclass(frozen=True)
class StockProgram:
    """One stock program in one situation.

    `prepare` makes what the program needs in its working directory: a git repository, a key, the
    program itself where `argv` begins with a relative path.
    `arrived` waits until it is deep in its work. `frames` and `threads` are the least that a
    correct unwinder finds (of the deepest thread).
    """

    name: str
    argv: tuple[str, ...]
    arrived: Arrival
    frames: int
    threads: int = 1
    prepare: Callable[[Path], None] | None = None
    environment: dict[str, str] = field(default_factory=dict)

    @contextlib.contextmanager
    def running(self, directory: Path) -> Iterator[int]:
        """Start the program in `directory`, yield the process id once it is in place, kill it.

        Everything it started is in its own process group and killed with it, also when the body
        raises.
        """
        directory.mkdir(parents=True, exist_ok=True)
        if self.prepare:
            self.prepare(directory)
        ready, announce = os.pipe()
        process: subprocess.Popen[bytes] | None = None
        try:
            process = self._start(directory, announce)
            os.close(announce)
            announce = -1
            yield self.arrived(Launched(process, ready))
        finally:
            if announce >= 0:
                os.close(announce)
            if process:
                put_away(process, ready)
            os.close(ready)

    def dump(self, directory: Path) -> StockCore:
        """Bring the program in place, write its core into `directory` with gcore, and end it."""
        with self.running(directory / f"{self.name}.work") as pid:
            core = gcore(pid, directory / f"{self.name}.core")
            # What `argv` starts may be a shell that sets a limit, or a link.
            exe = Path(f"/proc/{pid}/exe").resolve()
            return StockCore(core, exe, self.name, tuple(procfs.mapped_files(pid)))

    def kept(self) -> StockCore:
        """Its core, dumped once on a machine: always the same moment of the same process."""
        started = (self.name, self.argv, self.environment, Tool(self.argv[0]))
        tools = (compilers("gcc"), Tool("gdb"), Tool("git"))
        texts = sources(HERE, HERE / "scripts", suffixes=())
        return kept(("stock", started, tools, texts), self.dump, outside=lambda core: core.loaded)

    def _start(self, directory: Path, announce: int) -> subprocess.Popen[bytes]:
        """Standard input and output are pipes that nobody feeds or drains: reading and a full pipe
        block for ever.
        """
        environment = {
            "PATH": "/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "HOME": str(directory),
            READY_FD_VARIABLE: str(announce),
        }
        return subprocess.Popen(
            self.argv,
            cwd=directory,
            env=environment | self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(announce,),
            start_new_session=True,
        )


def put_away(process: subprocess.Popen[bytes], ready: int) -> None:
    """Kill a process and its whole group, reap it and close our ends of its pipes.

    Its children are not ours to wait for, but each of them holds the ready pipe open until it dies.
    """
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdin, process.stdout):
        if stream:
            with contextlib.suppress(BrokenPipeError):
                stream.close()
    process.wait()
    while select.select([ready], [], [], procfs.PATIENCE_SECONDS)[0] and os.read(ready, 64):
        pass
