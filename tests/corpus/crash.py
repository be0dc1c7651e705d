"""Run a program until it dies, and find its core file."""

from __future__ import annotations

import resource
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from corpus.build import CorpusError

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


def set_limits(stack: int | None = None, dumped: int | None = None) -> None:
    """Of the process that is about to start: cores of any size, and what the arguments say."""
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    if stack is not None:
        resource.setrlimit(
            resource.RLIMIT_STACK, (stack, resource.getrlimit(resource.RLIMIT_STACK)[1])
        )
    if dumped is not None:
        Path("/proc/self/coredump_filter").write_text(f"{dumped:#x}")


def kernel_core(directory: Path) -> Path | None:
    """The file that the kernel wrote, whatever `core_pattern` calls it."""
    found = sorted(directory.glob("core*"), key=lambda path: path.stat().st_size)
    return found[-1] if found and found[-1].stat().st_size else None


def _core_by_gdb(exe: Path, directory: Path, stack: int | None, dumped: int | None) -> Path | None:
    """Where the kernel pipes cores away: let gdb write one at the moment of death.

    The stepper cannot watch that run, so cases that need it (all of musl) then fail loudly.
    """
    core = directory / "core.gdb"
    quiet = [
        f"handle {name} nostop noprint pass"
        for name in ("SIGALRM", "SIGUSR1", "SIGUSR2", "SIGCHLD")
    ]
    commands = [
        "set debuginfod enabled off",
        "set startup-with-shell off",
        "set disable-randomization off",
        "set follow-fork-mode child",
        *quiet,
        "run",
    ]
    if "altstack" in exe.name:  # the first SIGSEGV is the handler's
        commands.append("continue")
    commands.append(f"generate-core-file {core}")
    arguments = [word for command in commands for word in ("-ex", command)]
    subprocess.run(
        ["gdb", "-nx", "-q", "-batch", *arguments, str(exe)],
        cwd=directory,
        capture_output=True,
        check=False,
        timeout=TIMEOUT,
        preexec_fn=lambda: set_limits(stack, dumped),
    )
    return core if core.exists() else None


def crash(
    exe: Path,
    directory: Path,
    stack: int | None = None,
    stepper: Path | None = None,
    dumped: int | None = None,
    variables: Mapping[str, str] | None = None,
) -> Crash:
    """Run the program in an empty directory below `directory`, if given under the stepper.

    `dumped` is the kernel's coredump_filter: which kinds of mappings the core holds; `variables`
    join the environment.
    """
    place = directory / "run"
    place.mkdir(parents=True, exist_ok=True)
    for old in place.iterdir():
        old.unlink()
    steps = place / "steps" if stepper else None
    command = [str(stepper), str(steps), str(exe)] if stepper else [str(exe)]
    try:
        done = subprocess.run(
            command,
            cwd=place,
            env={**ENVIRONMENT, **(variables or {})},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=TIMEOUT,
            preexec_fn=lambda: set_limits(stack, dumped),
        )
    except subprocess.TimeoutExpired as error:
        raise CorpusError(f"{exe}: does not crash within {TIMEOUT} s") from error
    core = kernel_core(place)
    if core is not None:
        return Crash(core, steps)
    core = _core_by_gdb(exe, place, stack, dumped)
    if core is None:
        how = (
            signal.strsignal(-done.returncode) if done.returncode < 0 else f"exit {done.returncode}"
        )
        raise CorpusError(f"{exe}: no core file ({how})")
    return Crash(core)  # the stepper saw another process
