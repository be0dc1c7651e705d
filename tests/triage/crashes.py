"""Builds the programs, strips them, and runs each bug until it has its cores."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from triage.catalog import PROGRAMS, Bug, Build

DUMPED = 0x11
"""coredump_filter: anonymous private memory and the headers of ELF files; not files' contents."""
STACK = 256 << 10
"""Bytes of stack: an endless recursion's core stays small."""


@dataclass(frozen=True)
class Crashed:
    """A core with what is true of it."""

    core: Path
    bug: Bug
    build: str


def compile_program(name: str, build: Build, place: Path) -> Path:
    """The stripped program."""
    exe = place / name
    units = sorted(path for path in PROGRAMS.iterdir() if path.suffix in (".c", ".cpp"))
    flags = [*build.flags, f"-DVERSION={build.version}", "-w", "-pthread", "-no-pie"]
    if build.version > 1:
        flags.remove("-no-pie")
    objects = []
    for unit in units:
        if unit.stem != "main" and unit.stem.partition("_")[0] != name:
            continue
        target = place / f"{name}-{unit.stem}.o"
        compiler = build.c if unit.suffix == ".c" else build.cxx
        compiled = [f for f in flags if f != "-no-pie"] + (
            ["-fno-pie"] if "-no-pie" in flags else ["-fPIE"]
        )
        subprocess.run([compiler, *compiled, "-c", unit, "-o", target], check=True)
        objects.append(target)
    subprocess.run([build.cxx, *flags, *objects, "-o", exe], check=True)
    subprocess.run(["strip", exe], check=True)
    for each in objects:
        each.unlink()
    return exe


def _limits() -> None:
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    Path("/proc/self/coredump_filter").write_text(f"{DUMPED:#x}")


def crash(exe: Path, bug: Bug, seed: int, place: Path) -> Path:
    """The core of one run; RuntimeError where there is none."""
    place.mkdir(parents=True, exist_ok=True)
    ran = subprocess.run(
        [exe, str(bug.job), str(seed)],
        cwd=place,
        env={"PATH": "/usr/bin:/bin", "HOME": "/", "HOSTNAME": f"host-{seed % 3}"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
        timeout=60,
        preexec_fn=_limits,
    )
    found = [path for path in place.glob("core*") if path.name != "core.kept"]
    if ran.returncode >= 0 or not found:
        raise RuntimeError(f"{exe} {bug} with seed {seed}: status {ran.returncode}, no core")
    target = place / f"{bug.program}-{bug.job}-{seed}.core"
    found[0].rename(target)
    return target


def make_cores(
    bugs: Iterable[Bug], builds: Iterable[Build], seeds: Iterable[int], place: Path
) -> Iterator[Crashed]:
    """A core of each bug by each build with each seed."""
    chosen, numbers = list(bugs), list(seeds)
    for build in builds:
        home = place / build.word
        home.mkdir(parents=True, exist_ok=True)
        programs = {
            name: compile_program(name, build, home) for name in {b.program for b in chosen}
        }
        for bug in chosen:
            for seed in numbers:
                core = crash(programs[bug.program], bug, seed, home / "cores")
                yield Crashed(core, bug, build.word)
