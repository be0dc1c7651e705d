"""A program that loads a library while it runs, and crashes in it; both stripped and without unwind
tables.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from programs import HARD, Crash, compiled, dump, once

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


def _stripped(folder: Path, name: str, source: str, flags: str = HARD) -> None:
    compiled(folder, name, source, flags).rename(folder / f"{name}.twin")
    subprocess.run(["strip", "-o", name, f"{name}.twin"], cwd=folder, check=True)


def _in(folder: Path) -> Plugin:
    names = ("plugin", "plugin.twin", "plugin.dump", "libplugin.so", "libplugin.so.twin")
    return Plugin(*(folder / name for name in names))


def _fill(folder: Path) -> None:
    plugin = _in(folder)
    _stripped(folder, plugin.library.name, LIBRARY, f"{HARD} -shared -fPIC")
    _stripped(folder, plugin.exe.name, PROGRAM % plugin.library)
    dump(plugin)


def shared_plugin() -> Plugin:
    """Compiled, stripped, crashed under gdb; the core is kept."""
    return _in(once("plugin", LIBRARY + PROGRAM, _fill))
