"""A program that crashes in a library, stripped, with twins that have all symbols."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus.crash import crash
from oracles.tools import environment, run

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "gdbext" / "whocall.py"

LIBRARY = r"""
#include <stdlib.h>
#define OUT_OF_LINE __attribute__((noinline, noclone))
int unused(int v) { if (v > 5) __asm__ volatile(".skip 150, 0x90"); return v + 1; }
static OUT_OF_LINE int deepest(volatile int *p) { return *p + 1; }
static OUT_OF_LINE int deeper(volatile int *p) { return deepest(p) + 2; }
OUT_OF_LINE int library_step(volatile int *p) { return deeper(p) + 3; }
int library_entry(volatile int *p) { return library_step(p) + 4; }
"""

PROGRAM = r"""
#define OUT_OF_LINE __attribute__((noinline, noclone))
int library_entry(volatile int *p);
static OUT_OF_LINE int calling(volatile int *p) { return library_entry(p) + 1; }
OUT_OF_LINE int starting(volatile int *p) { return calling(p) + 2; }
int main(void) { return starting(0); }
"""

CHAIN = ("deepest", "deeper", "library_step", "library_entry", "calling", "starting", "main")
IN_LIBRARY = 4
"""How many of the chain's functions are the library's."""


@dataclass(frozen=True)
class Crashed:
    """The stripped files at the places that the core names, and their twins beside them."""

    directory: Path
    core: Path

    @property
    def exe(self) -> Path:
        """The stripped program."""
        return self.directory / "prog"

    @property
    def library(self) -> Path:
        """The stripped library."""
        return self.directory / "libsteps.so"

    def twin(self, name: str) -> Path:
        """The unstripped twin of `prog` or `libsteps.so`."""
        return self.directory / "twins" / name


def compiled(source: str, output: Path, *flags: str, with_files: Sequence[Path] = ()) -> Path:
    """Compiles C with unwind tables and debug info."""
    output.parent.mkdir(parents=True, exist_ok=True)
    command = ["gcc", "-O1", "-g", "-fno-optimize-sibling-calls", "-Wl,--build-id", *flags]
    command += ["-o", str(output), "-x", "c", "-", "-x", "none", *map(str, with_files)]
    subprocess.run(command, input=source, text=True, check=True, env=environment())
    return output


def library(output: Path, source: str = LIBRARY) -> Path:
    """The library, unstripped, its functions in the order of the source."""
    flags = ("-shared", "-fPIC", "-fno-toplevel-reorder", "-Wl,-soname,libsteps.so")
    return compiled(source, output, *flags)


def stripped(twin: Path, output: Path) -> Path:
    """Without .symtab and debug info."""
    run(["strip", "-o", str(output), str(twin)])
    return output


def build(directory: Path) -> Crashed:
    """Both files, not yet crashed."""
    twins = directory / "twins"
    shared = library(twins / "libsteps.so")
    compiled(PROGRAM, twins / "prog", f"-Wl,-rpath,{directory}", with_files=[shared])
    for name in ("prog", "libsteps.so"):
        stripped(twins / name, directory / name)
    return Crashed(directory, directory / "none")


def crashed(directory: Path, dumped: int | None = None) -> Crashed:
    """Both files, and a core with the mappings that the coredump_filter `dumped` says."""
    made = build(directory)
    return Crashed(directory, crash(made.exe, directory, dumped=dumped).core)


def build_id(path: Path) -> str:
    """As readelf tells it."""
    said = run(["readelf", "-n", str(path)])
    return said.split("Build ID: ")[1].split()[0]


def whocall(
    *arguments: str | Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The command line, to its end."""
    return subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)],
        env={**environment(), "WHOCALL_BUILD_DIR": build_directory(), **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def build_directory() -> str:
    """Where the native module lies."""
    return str(Path(os.environ["WHOCALL_BUILD_DIR"]).resolve())


def answer(*arguments: str | Path, env: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The JSON of a command that succeeded."""
    ran = whocall(*arguments, "--json", env=env)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def names(document: dict[str, Any]) -> list[str | None]:
    """The functions of the crashed thread's chain, innermost first."""
    return [frame["function"] for frame in document["threads"][0]["frames"]]


def modules(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The modules by the last part of their paths."""
    return {Path(module["path"]).name: module for module in document["modules"]}


def chain_of(found: Sequence[str | None]) -> tuple[str | None, ...]:
    """As many as our chain has, for comparison with CHAIN."""
    return tuple(found[: len(CHAIN)])
