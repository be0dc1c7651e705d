"""Runs a tool of the distribution the same way everywhere: C locale, no network, no input."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections.abc import Iterator, Sequence
from functools import partial


class ToolError(RuntimeError):
    """A tool failed; the message holds the command, its exit code and what it said.

    Of one that was stopped because it worked too long, `said` is its output so far.
    """

    def __init__(self, message: str, said: str = "") -> None:
        super().__init__(message)
        self.said = said


def environment() -> dict[str, str]:
    """Ours, in the C locale, without the servers that gdb, readelf and eu-stack would ask."""
    kept = {name: value for name, value in os.environ.items() if name != "DEBUGINFOD_URLS"}
    return kept | {"LC_ALL": "C"}


def _bound(work: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (work, work))


def asked(
    command: Sequence[str], timeout: float | None = None, work: int | None = None
) -> subprocess.CompletedProcess[str]:
    """A command that has ended, well or not, within `timeout` seconds and with no more than `work`
    seconds of processor time (which a busy machine does not lengthen); else ToolError.
    """
    bound = None if work is None else partial(_bound, work)
    try:
        finished = subprocess.run(
            command,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=timeout,
            preexec_fn=bound,
        )
    except FileNotFoundError as error:
        raise ToolError(f"{command[0]}: not installed") from error
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"{' '.join(command)}: no end within {timeout} s") from error
    if work is not None and finished.returncode == -signal.SIGKILL:
        message = f"{' '.join(command)}: no end within {work} s of processor time"
        raise ToolError(message, finished.stdout)
    return finished


def run(command: Sequence[str], accepted: Sequence[int] = (0,)) -> str:
    """The standard output of a command that ended with one of the `accepted` exit codes."""
    finished = asked(command)
    if finished.returncode not in accepted:
        raise ToolError(
            f"{' '.join(command)}: exit code {finished.returncode}\n{finished.stderr[-2000:]}"
        )
    return finished.stdout


def lines(command: Sequence[str]) -> Iterator[str]:
    """The lines of a command's standard output while it runs; warnings on stderr are dropped."""
    with subprocess.Popen(
        command,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        errors="replace",
    ) as process:
        if process.stdout is None:
            raise ToolError(f"{' '.join(command)}: no output")
        yield from process.stdout
    if process.returncode:
        raise ToolError(f"{' '.join(command)}: exit code {process.returncode}")
