"""The demo's program as an arm64 program, in gdb and under libwhocall.

Its core is qemu-user's: no debugger of the root can write one, for lack of ptrace.
"""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
from pathlib import Path

from oracles.distribution import sysroot

from arm64 import BUILD, ROOT, Arm64Error
from arm64.emulated import Emulated, environment

TRIPLE = "aarch64-linux-gnu"
SOURCE = ROOT / "examples" / "orders.c"


def crashed(work: Path) -> tuple[Path, Path]:
    """The program, stripped, and its core."""
    exe = work / "orders"
    command = re.search(r"Build: gcc (.*) -o orders orders\.c$", SOURCE.read_text(), re.MULTILINE)
    if command is None:
        raise Arm64Error(f"{SOURCE} does not say how it is built")
    flags = command[1].split()
    subprocess.run([f"{TRIPLE}-gcc", *flags, "-o", exe, SOURCE], check=True)
    subprocess.run([f"{TRIPLE}-strip", exe], check=True)
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    subprocess.run(
        ["qemu-aarch64", "-L", sysroot(TRIPLE), exe],
        cwd=work,
        check=False,
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (hard, hard)),
    )
    cores = list(work.glob("qemu_*.core"))
    if len(cores) != 1:
        raise Arm64Error(f"qemu-aarch64 wrote {len(cores)} cores of {exe}")
    return exe, cores[0].rename(work / "orders.core")


def _session(gdb: str, exe: Path, core: Path) -> list[str]:
    commands = [
        f"set sysroot {sysroot(TRIPLE)}",
        "bt",
        f"source {ROOT / 'gdbext' / 'whocall.py'}",
        *("whocall bt", "whocall compare", "whocall symbol $pc", "whocall repair", "bt"),
    ]
    asked = [word for command in commands for word in ("-ex", command)]
    return [gdb, "-nx", "-q", "-batch", *asked, str(exe), str(core)]


def in_gdb(work: Path, root: Emulated) -> tuple[str, str]:
    """All that the session prints in this machine's gdb-multiarch, and in the root's gdb."""
    command = _session("gdb-multiarch", *crashed(work))
    here = {**environment(ROOT / "build" / "release"), "XDG_CACHE_HOME": str(work / "here")}
    there = {**environment(BUILD), "XDG_CACHE_HOME": str(work / "there")}
    if shutil.which("gdb-multiarch") is None:
        raise Arm64Error("no gdb-multiarch: scripts/prepare tests")
    ours = subprocess.run(command, env=here, capture_output=True, text=True, check=False)
    theirs = root.run(["gdb", *command[1:]], there)
    return ours.stdout, theirs.stdout


def crash_report(work: Path, root: Emulated) -> str:
    """What libwhocall's handler says in the root, of the same program."""
    library = BUILD / "whocall" / "libwhocall-crash.so"
    done = root.run([work / "orders"], {"PATH": "/usr/bin:/bin", "LD_PRELOAD": str(library)})
    return done.stderr
