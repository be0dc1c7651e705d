"""Starts a program of the trial and dumps it at random moments, with the truth of each moment."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from stock import procfs
from stock.gcore import GcoreFailedError, gcore
from stock.program import Launched, StockProgram

from field_trial import returns, truth
from field_trial.program import SCRIPTS, STOCK_SCRIPTS, Program

LARGEST_CORE = 2 << 30  # bytes
STARTS = 6
"""How often a program that ends by itself is started again."""


class NotDumpedError(RuntimeError):
    """Why there is no core of a program."""


def install(program: Program) -> None:
    """What is missing of its packages; nothing that is installed gets upgraded."""
    missing = [name for name in program.packages if not _is_installed(name)]
    if not missing:
        return
    options = ("-qq", "-y", "--no-install-recommends", "--no-upgrade")
    lock = ("-o", "DPkg::Lock::Timeout=600")
    # At run level 1 no server is started.
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    _run(["apt-get", *options, *lock, "install", *missing], Path.cwd(), environment)


def _is_installed(package: str) -> bool:
    said = subprocess.run(
        ["dpkg-query", "-W", "-f", "${db:Status-Status}", package],
        capture_output=True,
        text=True,
        check=False,
    )
    return said.stdout.startswith("installed")


def _run(command: list[str], directory: Path, environment: dict[str, str] | None = None) -> None:
    ended = subprocess.run(
        command,
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if ended.returncode:
        raise NotDumpedError(f"{' '.join(command)}: {ended.returncode}: {ended.stdout[-600:]}")


def make_ready(program: Program, work: Path) -> None:
    """Its working directory, with everything in it; kept from run to run."""
    if (work / ".ready").exists():
        return
    install(program)
    work.mkdir(parents=True, exist_ok=True)
    for name in program.scripts:
        ours = SCRIPTS / name
        shutil.copy(ours if ours.exists() else STOCK_SCRIPTS / name, work / Path(name).name)
    for name, content in program.made.items():
        (work / name).write_text(content)
    for package in program.unpacked:
        _run(["apt-get", "-qq", "download", package], work)
    for archive in work.glob("*.deb"):
        _run(["dpkg-deb", "-x", str(archive), "root"], work)
        archive.unlink()
    if program.prepare:
        _run(["/bin/bash", "-ec", program.prepare], work)
    (work / ".ready").touch()


def dump(program: Program, directory: Path, moments: int) -> None:
    """Writes N.core, N.truth.json for each of the moments that is not there yet."""
    work = directory / "work"
    make_ready(program, work)
    chance = random.Random(program.name)
    wanted = [n for n in range(moments) if not (directory / f"{n}.truth.json").exists()]
    for _ in range(STARTS):
        if not wanted:
            return
        with (
            contextlib.suppress(procfs.NotReachedError, FileNotFoundError, ProcessLookupError),
            _stock(program, chance).running(work) as pid,
        ):
            exe = Path(f"/proc/{pid}/exe").resolve()
            while wanted:
                _moment(pid, exe, directory / f"{wanted[0]}.core", program)
                wanted.pop(0)
                _compute(pid, chance.uniform(0.02, program.spread))
    if wanted:
        log = work / "errors.txt"
        text = log.read_text(errors="replace")[-600:] if log.exists() else ""
        raise NotDumpedError(f"ended too early, {len(wanted)} moments are lacking: {text}")


def find_truth(program: Program, directory: Path) -> None:
    """Finds the truth of all cores of a folder anew."""
    for known in directory.glob("*.truth.json"):
        core = directory / known.name.replace(".truth.json", ".core")
        exe = Path(truth.load(known).exe)
        truth.save(truth.find(core, exe, program, directory / "work"), known)


def _stock(program: Program, chance: random.Random) -> StockProgram:
    warm = program.warm + chance.uniform(0, program.spread)

    def arrived(launched: Launched) -> int:
        pid = launched.process.pid
        if program.process:
            busiest = _Busiest(pid, program.process)
            launched.wait_for(lambda: busiest.has_used(warm), f"a process {program.process!r}")
            return busiest.pid
        _compute(pid, warm)
        return pid

    starts_itself = program.process or "exec " in program.command
    start = program.command if starts_itself else f"exec {program.command}"
    line = f"exec >/dev/null 2>errors.txt </dev/null; {start}"
    return StockProgram(
        program.name, ("/bin/bash", "-c", line), arrived, 1, environment=program.environment
    )


class _Busiest:
    """Of the processes that a program starts, the one that computes."""

    def __init__(self, group: int, piece: str) -> None:
        self._group, self._piece, self.pid = group, piece, 0

    def has_used(self, seconds: float) -> bool:
        """Looks for it; whether it has used so much CPU time."""
        used = {}
        for pid in _in_group(self._group, self._piece):
            with contextlib.suppress(OSError):
                used[pid] = procfs.cpu_seconds(pid)
        self.pid = max(used, key=lambda pid: used[pid], default=0)
        return bool(used) and used[self.pid] >= seconds


def _in_group(group: int, piece: str) -> list[int]:
    """Processes of the group whose command line holds `piece`, but for the shell we started."""
    found = []
    for pid in _processes():
        with contextlib.suppress(OSError, IndexError):
            stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            # A server's worker may make a session of its own, but its parent is one of ours.
            ours = int(stat[2]) == group or int(stat[3]) == group
            if ours and pid != group and piece in words:
                found.append(pid)
    return found


def _processes() -> Iterator[int]:
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())


def _compute(pid: int, seconds: float) -> None:
    """Waits until the process has used that much more CPU time, unless it ends."""
    enough = procfs.cpu_seconds(pid) + seconds

    def reached() -> bool:
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            raise procfs.NotReachedError(f"{pid} has ended")
        return procfs.cpu_seconds(pid) >= enough

    procfs.wait_for(reached, f"{pid} computing for {seconds:.2f} s", patience=40)


def _moment(pid: int, exe: Path, core: Path, program: Program) -> None:
    """One core that is not too large, and its truth."""
    os.kill(pid, signal.SIGSTOP)
    try:
        _dump_small(pid, core)
        known = truth.find(core, exe, program, core.parent / "work", pid)
        if not all(thread.complete for thread in known.threads.values()):
            returns.prove(pid, core, known)
        truth.save(known, core.with_suffix(".truth.json"))
    finally:
        os.kill(pid, signal.SIGCONT)


def _dump_small(pid: int, core: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_CORE, before[1]))
    try:
        gcore(pid, core)
        # It says nothing of a file that came to its limit.
        if core.stat().st_size >= LARGEST_CORE:
            raise GcoreFailedError("the core is too large")
        _run(["fallocate", "--dig-holes", str(core)], core.parent)
    except GcoreFailedError as error:
        for left in core.parent.glob(f"{core.name}*"):
            left.unlink()
        raise NotDumpedError(str(error)[-600:]) from error
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
