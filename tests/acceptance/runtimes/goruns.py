"""Go programs built, crashed and read: the runtime's own traceback is the witness.

With GOTRACEBACK=crash the runtime prints of every frame the pc, the stack pointer and the CFA
(`fp=`) before it dumps core, and of inlined calls the names and lines.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from corpus.crash import kernel_core, set_limits
from corpus.dumper import leaving_core
from places.needs import OWN_CORES, require

PROGRAMS = Path(__file__).with_name("goprograms")
TIMEOUT = 60


@dataclass(frozen=True)
class GoFrame:
    """What the runtime prints of one call; inlined calls have no place on the stack."""

    function: str
    file: str
    line: int
    pc: int | None = None
    cfa: int | None = None


@dataclass
class GoStack:
    """One goroutine's traceback; behind the first `whole` frames some may be left out."""

    heading: str
    frames: list[GoFrame] = field(default_factory=list)
    whole: int | None = None


_PLACE = re.compile(r"^\t(\S.*?):(\d+)(?: \+0x[0-9a-f]+)?(?: fp=(\w+) sp=\w+ pc=(\w+))?$")


def _function(line: str) -> str:
    """The name before the arguments: the last group in parentheses."""
    depth = 0
    for at in range(len(line) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(line[at], 0)
        if depth == 0:
            name = line[:at]
            return "runtime.gopanic" if name == "panic" else name
    return line


def parse(text: str) -> list[GoStack]:
    """The stacks in what a Go program printed when it died."""
    stacks: list[GoStack] = []
    previous = ""
    for line in text.splitlines():
        place = _PLACE.match(line)
        if line.startswith(("goroutine ", "runtime stack:")):
            stacks.append(GoStack(line))
        elif line.endswith("frames elided...") and stacks:
            stacks[-1].whole = len(stacks[-1].frames)
        elif place and stacks and not previous.startswith("created by "):
            file, number, cfa, pc = place.groups()
            stacks[-1].frames.append(
                GoFrame(
                    _function(previous),
                    file,
                    int(number),
                    int(pc, 16) if pc else None,
                    int(cfa, 16) if cfa else None,
                )
            )
        previous = line
    return stacks


def environment(home: Path) -> dict[str, str]:
    """Nothing from the network, nothing left in the user's home."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GO")}
    return kept | {
        "HOME": str(home),
        "GOCACHE": str(home / "cache"),
        "GOPATH": str(home / "path"),
        "GO111MODULE": "off",
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
        "LC_ALL": "C",
    }


@dataclass(frozen=True)
class Target:
    """What programs are built for, and what runs them: nothing is this machine."""

    goarch: str = ""
    compiler: str = ""
    """For C."""
    run: tuple[str, ...] = ()
    """Put before the program."""

    def environment(self) -> dict[str, str]:
        """For the toolchain."""
        if not self.goarch:
            return {}
        return {"GOARCH": self.goarch, "CGO_ENABLED": "1", "CC": self.compiler}


HERE = Target()


@dataclass(frozen=True)
class GoCrash:
    """What a program left behind."""

    exe: Path
    core: Path
    said: str

    def running(self) -> GoStack:
        """The stack of the goroutine that crashed, with the runtime's own where it has one."""
        return next(each for each in parse(self.said) if "[running" in each.heading)


class GoToolchain:
    """`go build` of one version, in a directory of its own."""

    def __init__(self, directory: Path, go: str = "/usr/bin/go", target: Target = HERE) -> None:
        self.directory = directory
        self.go = go
        self.target = target

    def build(self, program: str, name: str, *flags: str) -> Path:
        """`program`.go of the folder beside this file, unless it was built before."""
        exe = self.directory / name
        if not exe.exists():
            subprocess.run(
                [self.go, "build", *flags, "-o", str(exe), str(PROGRAMS / f"{program}.go")],
                env=environment(self.directory) | self.target.environment(),
                check=True,
            )
        return exe

    def crash(self, exe: Path, way: str, goroutines: str = "crash") -> GoCrash:
        """Run to the crash."""
        place = self.directory / f"{exe.name}-{way}"
        place.mkdir()
        with started(exe, way, place, goroutines, self.target) as process:
            _, said = process.communicate(timeout=TIMEOUT)
        core = kernel_core(place)
        if self.target.run:
            require(OWN_CORES)
            if core is not None:  # the emulator's own
                core.unlink()
            core = next(place.glob("qemu_*.core"), None)
        assert core is not None, said
        return GoCrash(exe, core, said)


@contextmanager
def started(
    exe: Path,
    way: str,
    place: Path,
    goroutines: str = "crash",
    target: Target = HERE,
    *,
    traceable: bool = False,
) -> Iterator[subprocess.Popen[str]]:
    """The program, running; killed at the end should it still. A traceable one may leave no core,
    as what writes cores where the kernel does not is a tracer.
    """
    plain = [*target.run, str(exe), way]
    with subprocess.Popen(
        plain if target.run or traceable else leaving_core([exe, way]),
        cwd=place,
        env=environment(place) | {"GOTRACEBACK": goroutines},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: set_limits(None, None),
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)


@contextmanager
def ready(
    exe: Path, way: str, place: Path, *, traceable: bool = False
) -> Iterator[subprocess.Popen[str]]:
    """A program that says when it is where it is to be looked at, and has said so."""
    with started(exe, way, place, traceable=traceable) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "ready\n"
        yield process


def stripped(twin: Path, name: str) -> Path:
    """The twin after `strip`."""
    bare = twin.with_name(name)
    subprocess.run(["strip", "-o", str(bare), str(twin)], check=True)
    return bare
