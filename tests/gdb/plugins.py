"""A program that loads a library while it runs, and crashes in it; both stripped and without unwind
tables.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from programs import HARD, Crash
from sessions import GDB, environment

LIBRARY = """
#define OUT_OF_LINE __attribute__((noinline, noclone))
static OUT_OF_LINE int inner(int *p) { return 1 + *(volatile int *)p; }
OUT_OF_LINE int middle(int *p) { return inner(p) + 1; }
OUT_OF_LINE int entered(int *p) { int v[4] = {1, 2, 3, 4}; return middle(p) + v[middle(&v[1])]; }
"""

PROGRAM = """
#include <dlfcn.h>
#define OUT_OF_LINE __attribute__((noinline, noclone))
OUT_OF_LINE int before(void *loaded) { return loaded == 0; }
OUT_OF_LINE int using(void *loaded) {
  int (*entry)(int *) = (int (*)(int *))dlsym(loaded, "entered");
  return entry(0) + 1; }
int main(void) {
  void *loaded = dlopen("%s", RTLD_NOW);
  return before(loaded) + using(loaded); }
"""


@dataclass(frozen=True)
class Plugin(Crash):
    """The program, and the library that it loads."""

    library: Path
    library_twin: Path


def _run(*command: str | Path) -> None:
    subprocess.run(
        [str(part) for part in command],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=120,
    )


def _stripped(folder: Path, name: str, source: str, *flags: str) -> tuple[Path, Path]:
    text, twin, file = (folder / f"{name}{end}" for end in (".c", ".twin", ""))
    text.write_text(source)
    _run("gcc", *HARD.split(), *flags, "-o", twin, text)
    _run("strip", "-o", file, twin)
    return file, twin


def build_plugin(folder: Path) -> Plugin:
    """Compiles, strips, crashes under gdb and keeps the core."""
    library, library_twin = _stripped(folder, "libplugin.so", LIBRARY, "-shared", "-fPIC")
    exe, twin = _stripped(folder, "plugin", PROGRAM % library)
    core = folder / "plugin.dump"
    _run(GDB, "-nx", "-q", "-batch", "-ex", "run", "-ex", f"generate-core-file {core}", exe)
    return Plugin(exe, twin, core, library, library_twin)
