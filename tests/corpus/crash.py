"""Run a program until it dies, and find its core file."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from places.needs import allow_cores

from corpus.build import CorpusError
from corpus.dumper import compiled_dumper, kernel_writes_cores, leaving_core

TIMEOUT = 60
"""Seconds that a program may take to crash, also under single steps."""

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/", "LANG": "C.UTF-8"}
"""Of every program: not that of who runs the tests, which lies in the core and which a static C
library reads at its start, for more than half of all single steps."""


@dataclass(frozen=True)
class Crash:
    """A core file, and what the stepper recorded if it was used."""

    core: Path
    steps: Path | None = None


def set_limits(stack: int | None = None, dumped: int | None = None, kernels: bool = True) -> None:
    """Of the process that is about to start: cores of any size, if the `kernels` are wanted, and
    what the arguments say.
    """
    if kernels:
        allow_cores()
    else:
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if stack is not None:
        resource.setrlimit(
            resource.RLIMIT_STACK, (stack, resource.getrlimit(resource.RLIMIT_STACK)[1])
        )
    if dumped is not None:
        Path("/proc/self/coredump_filter").write_text(f"{dumped:#x}")


def kernel_core(directory: Path) -> Path | None:
    """The file that the kernel wrote, whatever `core_pattern` calls it, or the dumper."""
    found = sorted(directory.glob("core*"), key=lambda path: path.stat().st_size)
    return found[-1] if found and found[-1].stat().st_size else None


def _run(command: list[str], **how: Any) -> subprocess.CompletedProcess[bytes]:
    """Situation: the program that was just written is open for writing still, in a child that
    another thread has forked and that has not come to its exec. Remedy: it is, a moment later.
    """
    for _ in range(200):
        try:
            return subprocess.run(command, **how)
        except OSError as error:
            if error.errno != errno.ETXTBSY:
                raise
        time.sleep(0.01)
    raise CorpusError(f"{command[0]}: open for writing for good")


def crash(
    exe: Path,
    directory: Path,
    stack: int | None = None,
    stepper: Path | None = None,
    dumped: int | None = None,
    variables: Mapping[str, str] | None = None,
    errors: Path | None = None,
    whole: bool = False,
) -> Crash:
    """Run the program in an empty directory below `directory`, if given under the stepper.

    `dumped` is the kernel's coredump_filter: which kinds of mappings the core holds; `variables`
    join the environment; `errors` is written with what it says on standard error. A `whole` core
    has what the program may run and not read: where processors have keys for pages, the kernel
    leaves zeros there.
    """
    place = directory / "run"
    place.mkdir(parents=True, exist_ok=True)
    for old in place.iterdir():
        old.unlink()
    steps = place / "steps" if stepper else None
    if stepper is None:
        command = [str(compiled_dumper()), "core", str(exe)] if whole else leaving_core([exe])
    else:
        core_name = [] if kernel_writes_cores() and not whole else ["core"]
        command = [str(stepper), str(steps), str(exe), *core_name]
    with Path(errors or os.devnull).open("wb") as said:
        try:
            done = _run(
                command,
                cwd=place,
                env={**ENVIRONMENT, **(variables or {})},
                stdout=subprocess.DEVNULL,
                stderr=said,
                check=False,
                timeout=TIMEOUT,
                preexec_fn=lambda: set_limits(stack, dumped, kernels=not whole),
            )
        except subprocess.TimeoutExpired as error:
            raise CorpusError(f"{exe}: does not crash within {TIMEOUT} s") from error
    core = kernel_core(place)
    if core is None:
        how = (
            signal.strsignal(-done.returncode) if done.returncode < 0 else f"exit {done.returncode}"
        )
        raise CorpusError(f"{exe}: no core file ({how})")
    return Crash(core, steps)
