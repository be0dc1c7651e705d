"""A program whose stack is known line by line, stripped, and its names in another tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from artifact_cache import compilers, kept
from oracles.tools import environment

from acceptance.helpers.source_programs import Chain

# Each line of the stack ends in the name of its function. A call that does not return is the last
# instruction of its function: the return address lies in the next one.
SOURCE = r"""
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define ALONE __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))
#define ENDS __attribute__((noreturn))
volatile int v;
static void show(void) __attribute__((noinline));
static void show(void) {
#if defined SYMBOLS || defined ADDRESSES
  void *found[64];
  int count = backtrace(found, 64);
#endif
#ifdef SYMBOLS
  backtrace_symbols_fd(found + 1, count - 1, 1);
#endif
#ifdef ADDRESSES
  char maps[65536];
  int file = open("/proc/self/maps", O_RDONLY);
  for (ssize_t size; (size = read(file, maps, sizeof maps)) > 0;) fwrite(maps, 1, size, stdout);
  for (int i = 1; i < count; ++i) printf("stack word %p\n", found[i]);
  fflush(stdout);
#endif
}
static inline __attribute__((always_inline)) int deep(volatile int *p) {
  return show(), *p / v;  /* deep */
}
static ALONE int crash(volatile int *p) {
  int got = deep(p);  /* crash */
  return got + 1;
}
static ALONE ENDS void caller(volatile int *p) {
  v = crash(p) + 1;  /* caller */
  _exit(v);
}
static ALONE ENDS void last(volatile int *p) {
  v = 1;
  caller(p);  /* last */
}
#ifdef LIBRARY
static void *begin(void *p) {
  struct sigaction now;
  do {  /* until the virtual machine reports crashes */
    usleep(1000);
    sigaction(SIGSEGV, 0, &now);
  } while (now.sa_handler == SIG_DFL);
  usleep(100000);
  last(p);  /* begin */
}
__attribute__((constructor)) static void start(void) {
  pthread_t thread;
  pthread_create(&thread, 0, begin, 0);
}
#else
int main(int count, char **words) {
  last(count > 1 ? &v : 0);  /* main */
}
#endif
"""
FUNCTIONS = ("deep", "crash", "caller", "last", "main")
WHOCALL = Path(__file__).resolve().parents[3] / "gdbext" / "whocall.py"


@dataclass(frozen=True)
class Built:
    """One program in two forms."""

    full: Path
    stripped: Path
    debug: Path  # what `objcopy --only-keep-debug` keeps


def build(*flags: str, compiler: str = "gcc", name: str = "prog") -> Built:
    """Compiled once on a machine; with a build id."""

    def make(place: Path) -> Built:
        (place / "who.c").write_text(SOURCE)
        full = place / "full"
        command = [compiler, "-w", "-g", "-O1", "-Wl,--build-id", *flags, "who.c", "-o", "full"]
        subprocess.run(command, cwd=place, check=True)
        return halves(full, place / name)

    return kept(("logs", SOURCE, flags, compiler, name, compilers(compiler)), make)


def halves(full: Path, stripped: Path) -> Built:
    """The program and its debug file."""
    debug = stripped.with_name("debug-half")
    subprocess.run(["objcopy", "--only-keep-debug", full, debug], check=True)
    subprocess.run(["strip", full, "-o", stripped], check=True)
    return Built(full, stripped, debug)


@dataclass(frozen=True)
class Ran:
    """What a program wrote; its file is gone."""

    text: str
    path: Path


def ran(
    built: Built, place: Path, *words: str, before: Sequence[str] = (), **variables: str
) -> Ran:
    """The output of the stripped program, which lies in `place` for as long as it runs."""
    place.mkdir(parents=True)
    path = Path(shutil.copy(built.stripped, place))
    done = subprocess.run(
        [*before, str(path), *words],
        env=environment() | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=120,
    )
    shutil.rmtree(place)
    return Ran(done.stdout.decode("utf-8", "replace"), path)


def resolved(log: str, *words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """`whocall resolve` of standard input."""
    done = subprocess.run(
        [sys.executable, str(WHOCALL), "resolve", *map(str, words)],
        env={name: text for name, text in os.environ.items() if name != "PYTHONPATH"} | variables,
        input=log.encode("utf-8", "surrogateescape"),
        capture_output=True,
        check=False,
        timeout=120,
    )
    out, err = (part.decode("utf-8", "surrogateescape") for part in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def true_lines(functions: Sequence[str] = FUNCTIONS) -> Chain:
    """(function, file, line) of the stack, innermost first, as the source has it."""
    lines = SOURCE.splitlines()
    marks = {
        found[1]: number
        for number, line in enumerate(lines, 1)
        if (found := re.search(r"/\* (\w+) \*/$", line))
    }
    return [(name, "who.c", marks[name]) for name in functions]


def tree(place: Path, file: Path, name: str) -> Path:
    """Another file system: the file somewhere in it."""
    folder = place / "elsewhere" / "a" / "b"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, folder / name)
    return place / "elsewhere"
