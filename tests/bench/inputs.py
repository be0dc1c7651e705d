"""What is looked at: cores of programs made for it, and files of very many functions.

All of it is made once on a machine (see `kept`).
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from acceptance.helpers import function_files
from artifact_cache import Tool, compilers, kept

FUNCTIONS, THREADS, DEPTH = 200, 1000, 100_000
FLAGS = ("-O1", "-fno-optimize-sibling-calls", "-pthread", "-w")


class Dumped(NamedTuple):
    """A core and its program."""

    core: Path
    exe: Path


def crowd_source() -> str:
    """A thousand threads that take different ways of twenty through many functions."""
    names = [f"function_number_{at}" for at in range(FUNCTIONS)]
    heads = "".join(f"void {name}(unsigned long, int);" for name in names)
    bodies = "".join(
        f"""__attribute__((noinline)) void {name}(unsigned long seed, int depth) {{
  if (depth == 0) rest();
  else ways[(seed * 2654435761u >> 7) % {FUNCTIONS}](seed * 6364136223846793005u + {at}, depth - 1);
  sink += {at}; }}
"""
        for at, name in enumerate(names)
    )
    return f"""
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int sink, resting;
static __attribute__((noinline)) void rest(void) {{
  __sync_fetch_and_add(&resting, 1); for (;;) pause(); }}
{heads}
static void (*const ways[])(unsigned long, int) = {{{", ".join(names)}}};
{bodies}
static void *start(void *number) {{
  ways[(unsigned long)number % {FUNCTIONS}]((unsigned long)number * 7919 + 1, 19); return 0; }}
int main(void) {{
  pthread_attr_t attributes; pthread_t thread;
  pthread_attr_init(&attributes); pthread_attr_setstacksize(&attributes, 65536);
  for (unsigned long at = 1; at <= {THREADS}; at++)
    if (pthread_create(&thread, &attributes, start, (void *)at)) return 1;
  while (resting < {THREADS}) usleep(1000);
  usleep(200000); abort(); }}
"""


DEEP = f"""
#include <stdlib.h>
volatile int sink;
__attribute__((noinline)) void down(int n) {{ if (n == 0) abort(); down(n - 1); sink++; }}
int main(void) {{ down({DEPTH}); return 0; }}
"""

SMALL = """
#include <stdlib.h>
volatile int sink;
__attribute__((noinline)) void inner(int n) { if (n) abort(); sink++; }
__attribute__((noinline)) void outer(int n) { inner(n + 1); sink++; }
int main(int count, char **words) { outer(count); return 0; }
"""

COMPILED = """
#include <map>
#include <string>
std::map<std::string, int> counts;
int main(int count, char **words) {
  for (int at = 0; at < count; ++at) ++counts[words[at]];
  return counts.size();
}
"""
COMPILER = Path("/usr/bin/clang")
# Deep in the making of code; libLLVM exports it.
INNERMOST = "_ZN4llvm16SelectionDAGISel20runOnMachineFunctionERNS_15MachineFunctionE"


class NotMadeError(RuntimeError):
    """An input could not be made; the message holds what gdb said."""


def _gdb_dumps(core: Path, command: list[str], *before: str) -> Dumped:
    """The core that gdb writes where the program stops."""
    settings = ("set debuginfod enabled off", "set breakpoint pending on", "set confirm off")
    steps = [*settings, *before, "run", f"generate-core-file {core}", "kill"]
    words = [word for step in steps for word in ("-ex", step)]
    asked = ["gdb", "-nx", "-q", "-batch", "-readnever", *words, "--args", *command]
    ended = subprocess.run(asked, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if not core.exists():
        raise NotMadeError(f"{core.name}: {ended.stdout[-1000:]}{ended.stderr[-1000:]}")
    return Dumped(core, Path(command[0]))


def crashed(name: str, source: str) -> Dumped:
    """The core of a C program that aborts."""

    def make(place: Path) -> Dumped:
        (place / f"{name}.c").write_text(source)
        exe = place / name
        subprocess.run(["gcc", *FLAGS, "-o", str(exe), str(place / f"{name}.c")], check=True)
        return _gdb_dumps(place / f"{name}.core", [str(exe)])

    return kept(("bench", 1, source, FLAGS, compilers("gcc"), Tool("gdb")), make)


def crowd() -> Dumped:
    """1,001 threads, whose stacks all differ."""
    return crashed("crowd", crowd_source())


def deep() -> Dumped:
    """One thread of 100,000 frames."""
    return crashed("deep", DEEP)


def small() -> Dumped:
    """One thread of half a dozen frames."""
    return crashed("small", SMALL)


def compiler() -> Dumped | None:
    """clang with libclang and libLLVM, over a hundred megabytes without symbols of their own; None
    where it is not installed.
    """
    if not COMPILER.exists():
        return None

    def make(place: Path) -> Dumped:
        (place / "work.cc").write_text(COMPILED)
        words = ["-std=c++17", "-O2", "-c", str(place / "work.cc"), "-o", str(place / "work.o")]
        command = [str(COMPILER.resolve()), *words]
        return _gdb_dumps(place / "clang.core", command, f"break {INNERMOST}")

    return kept(("bench", 1, COMPILED, INNERMOST, Tool(str(COMPILER)), Tool("gdb")), make)


PERL = Path("/usr/bin/perl")
SORTED = "sub g { my $n = shift; kill ABRT => $$ if $n <= 0; my @x = sort { g($n - 1); 0 } 1, 2 }"


def perl() -> Dumped:
    """perl, deep in calls of its own sort(); Debian's perl-debug has 3 MB of compressed debug info
    of it.
    """

    def make(place: Path) -> Dumped:
        return _gdb_dumps(place / "perl.core", [str(PERL), "-e", f"{SORTED} g(60)"])

    return kept(("bench", 1, SORTED, Tool(str(PERL)), Tool("gdb")), make)


def functions(count: int, order: str = "random") -> Path:
    """An ELF file with that many functions, in one of the `function_files.ORDERS`."""

    def make(place: Path) -> Path:
        function_files.write(place / "functions", count, order)
        return place / "functions"

    return kept(("bench functions", count, order, Path(function_files.__file__)), make)


def missing(*tools: str) -> list[str]:
    """Of the peers, those that are not installed."""
    return [tool for tool in tools if shutil.which(tool) is None]
