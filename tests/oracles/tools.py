"""Runs a tool of the distribution the same way everywhere: C locale, no network, no input."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence


class ToolError(RuntimeError):
    """A tool failed; the message holds the command, its exit code and what it said."""


def environment() -> dict[str, str]:
    """Ours, in the C locale, without the servers that gdb, readelf and eu-stack would ask."""
    kept = {name: value for name, value in os.environ.items() if name != "DEBUGINFOD_URLS"}
    return kept | {"LC_ALL": "C"}


def run(command: Sequence[str], accepted: Sequence[int] = (0,)) -> str:
    """The standard output of a command that ended with one of the `accepted` exit codes."""
    finished = subprocess.run(
        command,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
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
