"""Processes that stop themselves, to be looked at."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def stopped(program: Path, directory: Path | None = None) -> Iterator[int]:
    """The id of a process of `program` that has stopped itself; it is killed afterwards."""
    with subprocess.Popen([program], cwd=directory) as process:
        try:
            os.waitpid(process.pid, os.WUNTRACED)
            yield process.pid
        finally:
            process.kill()
