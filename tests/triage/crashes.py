"""Builds the programs, strips them, and runs each bug until it has its cores."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

from artifact_cache import compilers, kept, sources
from corpus.dumper import leaving_core
from places.needs import allow_cores

from triage.catalog import PROGRAMS, Bug, Build

DUMPED = 0x11
"""coredump_filter: anonymous private memory and the headers of ELF files, no files' contents."""
STACK = 256 << 10
"""Bytes of stack: an endless recursion's core stays small."""


@dataclass(frozen=True)
class Crashed:
    """A core with what is true of it."""

    core: Path
    program: str
    job: int
    build: str

    @property
    def bug(self) -> str:
        return f"{self.program}/{self.job}"


def compile_program(name: str, build: Build, place: Path) -> Path:
    """The stripped program."""
    exe = place / name
    units = [*sorted(PROGRAMS.glob(f"{name}*.c*")), PROGRAMS / "main.c"]
    flags = [*build.flags, f"-DVERSION={build.version}", "-w", "-pthread"]
    pie = build.version > 1  # both kinds of programs
    objects = []
    for unit in units:
        target = place / f"{name}-{unit.stem}.o"
        compiler = build.c if unit.suffix == ".c" else build.cxx
        code = "-fPIE" if pie else "-fno-pie"
        subprocess.run([compiler, *flags, code, "-c", unit, "-o", target], check=True)
        objects.append(target)
    link = "-pie" if pie else "-no-pie"
    subprocess.run([build.cxx, *flags, link, *objects, "-o", exe], check=True)
    subprocess.run(["strip", exe], check=True)
    for each in objects:
        each.unlink()
    return exe


def limits() -> None:
    """Of a process that is about to start: small stack, small core."""
    allow_cores()
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    Path("/proc/self/coredump_filter").write_text(f"{DUMPED:#x}")


def crash(exe: Path, bug: Bug, seed: int, place: Path) -> Path:
    """The core of one run; RuntimeError where there is none."""
    place.mkdir(parents=True, exist_ok=True)
    ran = subprocess.run(
        leaving_core([exe, str(bug.job), str(seed)]),
        cwd=place,
        env={"PATH": "/usr/bin:/bin", "HOME": "/", "HOSTNAME": f"host-{seed % 3}"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
        timeout=60,
        preexec_fn=limits,
    )
    found = sorted(place.glob("core*"))
    if ran.returncode >= 0 or not found:
        raise RuntimeError(f"{exe} {bug} with seed {seed}: status {ran.returncode}, no core there")
    return found[0].rename(place / f"{bug.program}-{bug.job}-{seed}.core")


def _crashes(build: Build, bugs: Sequence[Bug], seeds: Sequence[int], place: Path) -> list[Crashed]:
    home = place / build.word
    home.mkdir()
    programs = {name: compile_program(name, build, home) for name in {bug.program for bug in bugs}}
    return [
        Crashed(
            crash(programs[bug.program], bug, seed, home / "cores"),
            bug.program,
            bug.job,
            build.word,
        )
        for bug in bugs
        for seed in seeds
    ]


def made_cores(bugs: Sequence[Bug], builds: Sequence[Build], seeds: Sequence[int]) -> list[Crashed]:
    """A core of each bug by each build with each seed, made now or earlier."""

    def make(place: Path) -> list[Crashed]:
        with ThreadPoolExecutor(2) as pool:
            done = pool.map(_crashes, builds, repeat(bugs), repeat(seeds), repeat(place))
            return [crashed for each in done for crashed in each]

    names = sorted({build.c for build in builds} | {build.cxx for build in builds})
    here = (Path(__file__), Path(__file__).with_name("catalog.py"))
    recipe = ("triage", sources(PROGRAMS), *here, compilers(*names))
    return kept((*recipe, list(bugs), list(builds), list(seeds)), make)
