"""Programs with hooks: built, run, and what whocall says of what they leave."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus.crash import kernel_core, set_limits
from corpus.dumper import leaving_core

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).parent / "programs"
NATIVE = ROOT / "native"
_BUILT = (os.environ.get("WHOCALL_BUILD_DIR", ""), ROOT / "build" / "release")  # not for each gdb
LIBRARIES = next(
    (
        Path(place, "whocall")
        for place in _BUILT
        if Path(place, "whocall/libwhocall-trace.a").exists()
    ),
    ROOT / "build" / "release" / "whocall",
)
STATIC = LIBRARIES / "libwhocall-trace.a"
SHARED = LIBRARIES / "libwhocall-trace.so"
WHOCALL = ROOT / "gdbext" / "whocall.py"
TIMEOUT_SECONDS = 120.0
HOOKS = "-finstrument-functions"


@dataclass(frozen=True)
class Ran:
    """A program that was run in its folder."""

    exe: Path
    status: int  # -6: SIGABRT
    output: str
    core: Path | None

    def counts(self) -> dict[str, int]:
        """The lines `NAME NUMBER` of the output."""
        return {
            name: int(number) for name, number in re.findall(r"^(\w+) (\d+)$", self.output, re.M)
        }


def build(
    folder: Path,
    source: Path | str,
    *flags: str | Path,
    compiler: str = "gcc",
    library: Path = STATIC,
) -> Path:
    """Compiles a program with hooks, named after its source."""
    path = PROGRAMS / source
    made = folder / path.stem
    words = [compiler, "-g", "-w", HOOKS, f"-I{NATIVE}", path, *flags, library]
    words += ["-pthread", "-ldl", f"-Wl,-rpath,{library.parent}", "-o", made]
    subprocess.run([str(word) for word in words], check=True)
    return made


def run(
    exe: Path, *words: str, folder: Path | None = None, dumps: bool = True, **settings: str
) -> Ran:
    """Runs it with these variables in its environment, in `folder` or where it lies.

    One that takes thousands of signals and is not to die `dumps` nothing: no tracer is to see each.
    """
    place = folder or exe.parent
    for old in place.glob("core*"):
        old.unlink()
    ran = subprocess.run(
        leaving_core([exe, *words]) if dumps else [str(exe), *words],
        cwd=place,
        env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
        preexec_fn=set_limits,
    )
    core = kernel_core(place) if ran.returncode < 0 else None
    return Ran(exe, ran.returncode, ran.stdout + ran.stderr, core)


def whocall(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """The command line."""
    return subprocess.run(
        [sys.executable, str(WHOCALL), *map(str, words)],
        env={**os.environ, "WHOCALL_BUILD_DIR": str(LIBRARIES.parent)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=TIMEOUT_SECONDS,
    )


def said(*words: str | Path) -> str:
    """What the command line prints when it succeeds, without a warning."""
    ran = whocall(*words)
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ran.stderr == "", ran.stderr[-2000:]
    return ran.stdout


def profile(trace: Path | None, *words: str | Path) -> dict[str, int]:
    """Calls by function, as `whocall trace --profile` tells them."""
    assert trace is not None
    rows = said("trace", trace, *words, "--profile").splitlines()[1:]
    found = [re.fullmatch(r".* ([\d,]+)  (\S.*)", row) for row in rows]
    return {row[2]: int(row[1].replace(",", "")) for row in found if row is not None}


def wrong_lines(output: str, right: str = "ok") -> Sequence[str]:
    """The lines of a program that judges itself which do not begin with `right`."""
    return [line for line in output.splitlines() if not line.startswith(right)]
