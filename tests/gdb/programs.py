"""Small programs that crash, without symbols, unwind tables and frame pointers; their cores."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType

from artifact_cache import Tool, compilers, kept
from sessions import GDB, INDEX, environment

MAKER = shutil.which("gdb") or GDB  # writes the cores, whichever gdb reads them

CHAIN = """
#include <stdlib.h>
#define OUT_OF_LINE __attribute__((noinline, noclone))
static OUT_OF_LINE int innermost(int *p) { return 1 + *(volatile int *)p; }
OUT_OF_LINE int comparing(const void *a, const void *b) { (void)a; (void)b;
  return innermost(0) + 1; }
OUT_OF_LINE int sorting(int *v) { qsort(v, 4, sizeof *v, comparing); return v[0]; }
int main(void) { int v[4] = {4, 3, 2, 1}; return sorting(v) + 1; }
"""

DEEP = """
#include <stdlib.h>
__attribute__((noinline)) int down(volatile int n) {
  if (n == 0) abort();
  return down(n - 1) + 1; }
int main(void) { return down(100000); }
"""

NEVER_ON_THE_STACK = """
static inline __attribute__((always_inline)) int inlined(int *p) { return *(volatile int *)p; }
__attribute__((noinline)) int last(int *p) { return inlined(p) + 2; }
__attribute__((noinline)) int jumping(int *p, int k) { return k > 3 ? 0 : last(p); }
__attribute__((noinline)) int calling(int *p) { return jumping(p, 1) + 1; }
int main(void) { return calling(0); }
"""

WORKERS = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_barrier_t started;
__attribute__((noinline)) void idle(void) { for (;;) pause(); }
void *work(void *unused) { (void)unused; pthread_barrier_wait(&started); idle(); return 0; }
int main(void) {
  pthread_t thread;
  pthread_barrier_init(&started, 0, 4);
  for (int i = 0; i < 3; i++) pthread_create(&thread, 0, work, 0);
  pthread_barrier_wait(&started);
  usleep(200000);
  abort();
}
"""


HARD = "-O1 -g -fno-asynchronous-unwind-tables -fomit-frame-pointer -pthread"


@dataclass(frozen=True)
class Crash:
    """A stripped program, its twin with symbols and unwind tables, and its core."""

    exe: Path
    twin: Path
    core: Path


def _run(*command: str | Path) -> None:
    ran = subprocess.run(
        [str(part) for part in command],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, f"{command}: {ran.stdout}{ran.stderr}"


def compiled(folder: Path, name: str, source: str, flags: str = HARD) -> Path:
    """A program with symbols and, unless `flags` say otherwise, without unwind tables."""
    text, exe = folder / f"{name}.c", folder / name
    text.write_text(source)
    _run("gcc", *flags.split(), "-o", exe, text)
    return exe


def _in(folder: Path, name: str) -> Crash:
    return Crash(folder / name, folder / f"{name}.twin", folder / f"{name}.dump")


def build(folder: Path, name: str, source: str, flags: str = HARD) -> Crash:
    """Compiles, strips, crashes under gdb and keeps the core."""
    crash = _in(folder, name)
    compiled(folder, name, source, flags).rename(crash.twin)
    _run("strip", "-o", crash.exe, crash.twin)
    dump(crash)
    return crash


def dump(crash: Crash) -> None:
    """Runs the program up to its crash and writes the core."""
    write = f"generate-core-file {crash.core}"
    _run(MAKER, "-nx", "-q", "-batch", *INDEX, "-ex", "run", "-ex", write, crash.exe)


def once(what: str, recipe: str, fill: FunctionType) -> Path:
    """A folder filled once on a machine, for all that look into it and leave it as it is."""

    def make(place: Path) -> Path:
        folder = place / what
        folder.mkdir()
        fill(folder)
        return folder

    ways = [Path(__file__), Path(fill.__code__.co_filename)]
    return kept((what, recipe, ways, compilers("gcc", "g++"), Tool(MAKER)), make)


def shared(name: str, source: str, flags: str = HARD) -> Crash:
    """As `build`, for tests that leave the files as they are."""
    folder = once(name, f"{name}\n{flags}\n{source}", lambda at: build(at, name, source, flags))
    return _in(folder, name)
