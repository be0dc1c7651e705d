"""Static programs that stand deep in the C library, and what is true of them by their twins."""

from __future__ import annotations

import os
import subprocess
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from corpus.crash import crash
from oracles import nm_table, objdump_table
from oracles.tools import environment, run
from stock.gcore import gcore

from acceptance.helpers.name_twins import stripped
from whocall.base.file_search import Search
from whocall.base.native_module import native
from whocall.base.process_image import open_core

LIBRARIES = {
    "glibc": "/usr/lib/x86_64-linux-gnu/libc.a",
    "glibc32": "/usr/lib32/libc.a",
    "musl": "/usr/lib/x86_64-linux-musl/libc.a",
}

# Each place is a number: the program goes there, and waits to be dumped or dies.
SOURCE = r"""
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <locale.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <regex.h>
#include <search.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static void stop(void) { for (;;) { *(volatile int *)8 = 1; } }
static int compare(const void *a, const void *b) {
  if (*(const int *)a == 7) stop();
  return *(const int *)a - *(const int *)b;
}
static void handle(int number) { (void)number; stop(); }
static void *thread(void *argument) { (void)argument; stop(); return 0; }
static void once(void) { stop(); }
static int walk_tree(const void *a, const void *b) { (void)a; (void)b; stop(); return 0; }
static void visit(const void *node, VISIT which, int depth) {
  (void)node; (void)which; (void)depth; stop();
}
#ifdef __GLIBC__
static ssize_t put(void *cookie, const char *text, size_t size) {
  (void)cookie; (void)text; stop(); return (ssize_t)size;
}
static ssize_t get(void *cookie, char *text, size_t size) {
  (void)cookie; (void)text; (void)size; stop(); return 0;
}
static FILE *stream(const char *mode) {
  cookie_io_functions_t functions = {.read = get, .write = put};
  FILE *file = fopencookie(0, mode, functions);
  setvbuf(file, 0, *mode == 'w' ? _IONBF : _IOFBF, 0);
  return file;
}
#endif
static int globbing(const char *path, int error) { (void)path; (void)error; stop(); return 0; }
static void *bad(void) { return (void *)16; }

int main(int count, char **words) {
  int numbers[] = {5, 3, 7, 1, 9, 2}, pipes[2], number = 7;
  char text[64] = "", *end;
  regex_t regex;
  pthread_t thread_id;
  pthread_once_t only_once = PTHREAD_ONCE_INIT;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  glob_t paths;
  void *tree = 0;
  setlocale(LC_ALL, "C");
  switch (atoi(getenv("PLACE"))) {
    case 0: qsort(numbers, 6, sizeof *numbers, compare); break;
    case 1: bsearch(&number, numbers, 6, sizeof *numbers, compare); break;
    case 2: atexit(once); exit(0);
    case 3: signal(SIGUSR1, handle); raise(SIGUSR1); break;
    case 4: pthread_create(&thread_id, 0, thread, 0); pthread_join(thread_id, 0); break;
    case 5: pthread_once(&only_once, once); break;
    case 6: abort();
    case 7: assert(count > 100); break;
    case 8: tsearch(numbers, &tree, walk_tree); tsearch(text, &tree, walk_tree); break;
    case 9: tsearch(numbers, &tree, compare); twalk(tree, visit); break;
    case 10: regcomp(&regex, bad(), REG_EXTENDED); break;
    case 11: regcomp(&regex, "(a|b)*c", REG_EXTENDED); regexec(&regex, bad(), 0, 0, 0); break;
    case 12: printf("%d %s\n", 3, (char *)bad()); break;
    case 13: sscanf("12 abc", "%d %s", &number, (char *)bad()); break;
    case 14: strtod(bad(), &end); break;
    case 15: strtol(bad(), &end, 10); break;
    case 16: poll(0, 0, 100000); break;
    case 17: pipe(pipes); read(pipes[0], text, 1); break;
    case 18: nanosleep(&(struct timespec){100000, 0}, 0); break;
    case 19: sleep(100000); break;
    case 20: system("exec sleep 100000"); break;
    case 21: pthread_mutex_lock(&mutex); pthread_mutex_lock(&mutex); break;
    case 22: free((char *)malloc(32) + 8); free(bad()); break;
    case 23: glob("/nonexistent-*/*", 0, globbing, &paths); glob(bad(), 0, globbing, &paths); break;
    case 24: fgets(bad(), 100, fopen("/proc/self/maps", "r")); break;
    case 25: pipe(pipes); getline(&(char *){0}, &(size_t){0}, fdopen(pipes[0], "r")); break;
    case 26: strftime(text, sizeof text, bad(), localtime(&(time_t){0})); break;
    case 27: wcstol(bad(), 0, 10); break;
    case 28: setenv("A", bad(), 1); break;
    case 29: puts(bad()); break;
    case 30: fprintf(bad(), "x%d\n", 1); break;
    case 31: mktime(bad()); break;
    case 32: getenv(bad()); break;
    case 33: snprintf(text, sizeof text, "%ls", (wchar_t *)bad()); break;
    case 34: posix_spawnp(&(pid_t){0}, "sleep", 0, 0, bad(), bad()); break;
    case 35: getaddrinfo(bad(), "80", 0, &(struct addrinfo *){0}); break;
#ifdef __GLIBC__
    case 36: fprintf(stream("w"), "%d\n", count); break;
    case 37: fgetc(stream("r")); break;
    case 38: number = fscanf(stream("r"), "%d", &number); break;
    case 39: fputs("text", stream("w")); break;
#endif
    default: return 3;
  }
  return 4;
}
"""
WAITING = frozenset({16, 17, 18, 19, 20, 21, 25})  # the others die
PLACES = {
    "glibc": range(40),
    "glibc32": range(40),
    "musl": [place for place in range(36) if place != 34],
}  # there, a child dies


def build(directory: Path, library: str, *flags: str, source: str = SOURCE) -> Path:
    """The unstripped static program `twin`, linked with one of the `LIBRARIES`."""
    directory.mkdir(parents=True, exist_ok=True)
    twin = directory / "twin"
    compiler = ["musl-gcc"] if library == "musl" else ["gcc"]
    machine = ["-m32"] if library == "glibc32" else []
    linkage = [] if "-static-pie" in flags else ["-static"]
    options = [*compiler, *machine, *linkage, "-w", *flags]
    command = [*options, "-x", "c", "-", "-o", str(twin)]
    finished = subprocess.run(
        command, input=source, text=True, check=False, env=environment(), capture_output=True
    )
    assert finished.returncode == 0, finished.stderr
    return twin


def dump(bare: Path, place: int, directory: Path) -> Path:
    """A core of the program at a place of its source; the directory is the core's own."""
    directory.mkdir()
    chosen = {"PLACE": str(place)}
    if place not in WAITING:
        return crash(bare, directory, variables=chosen).core
    with subprocess.Popen(
        [str(bare)], env={**os.environ, **chosen}, stdout=subprocess.DEVNULL
    ) as process:
        try:
            wait_until_asleep(process.pid)
            return gcore(process.pid, directory / "core")
        finally:
            process.kill()


def wait_until_asleep(pid: int) -> None:
    """Until the process has slept whenever it was looked at for a while."""
    asleep = 0
    end = time.monotonic() + 30
    while asleep < 5:
        assert time.monotonic() < end
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
        asleep = asleep + 1 if state == "S" else 0
        time.sleep(0.01)


def library_names(library: str) -> set[str]:
    """What nm lists as defined code in the archive."""
    listing = run(["nm", "--defined-only", LIBRARIES[library]])
    return {
        words[2]
        for words in map(str.split, listing.splitlines())
        if len(words) == 3 and words[1] in "tTwWi" and not words[2].startswith(".L")
    }


def true_names(twin: Path) -> dict[int, set[str]]:
    """All names by address, but for marks within a function (glibc's __syscall_cancel_arch_end)."""
    names: dict[int, set[str]] = defaultdict(set)
    for each in nm_table.symbols(twin):
        names[each.address].add(each.name)
    functions = [each for each in objdump_table.symbols(twin) if each.is_function]
    starts = {each.address for each in functions}
    ends = sorted((each.address, each.address + each.size) for each in functions if each.size)
    for address in names.keys() - starts:
        at = bisect_right(ends, (address, 0)) - 1
        if at >= 0 and address < ends[at][1]:
            del names[address]
    return names


@dataclass
class Tally:
    """How many functions of a library have their true name, and which names are wrong."""

    all: int = 0
    right: int = 0
    wrong: list[str] = field(default_factory=list)

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.all + other.all, self.right + other.right, self.wrong + other.wrong)

    @property
    def share(self) -> float:
        """Of all, how many are right."""
        return self.right / self.all if self.all else 0.0


def found_names(bare: Path, signatures: Iterable[Path]) -> dict[int, str]:
    """What the signature files name in a stripped file, by link address."""
    search = Search(signature_files=[str(path) for path in signatures]).native()
    table = native.open_symbols(str(bare), search)
    symbols = (table[at] for at in range(len(table)))
    return {each.start: each.name for each in symbols if each.source == "signature"}


def judge_all(twin: Path, signatures: Iterable[Path], ours: set[str]) -> Tally:
    """All functions of the program that the library (whose names are `ours`) defines."""
    true = true_names(twin)
    found = found_names(stripped(twin), signatures)
    wrong = [
        f"{address:#x}: {name}, in truth {sorted(true[address])}"
        for address, name in found.items()
        if name not in true[address]
    ]
    of_library = {address for address, names in true.items() if names & ours}
    return Tally(len(of_library), len(of_library & found.keys()), wrong)


def judge_stacks(core: Path, bare: Path, twin: Path, signatures: Path, ours: set[str]) -> Tally:
    """The library's functions on the stacks of one core; which they are, the twin says."""
    true = true_names(twin)
    starts = sorted(true)
    tally = Tally()
    search = Search(signature_files=[str(signatures)])
    with open_core(str(core), str(bare), search=search) as image:
        for trace in image.report().threads:
            for frame in trace.frames:
                if frame.rva is None or frame.module is None or Path(frame.module) != bare:
                    continue
                inside = frame.rva - (not frame.interrupted and not frame.signal_trampoline)
                at = max(start for start in starts if start <= inside)
                if not true[at] & ours:
                    continue
                tally.all += 1
                if frame.function in true[at]:
                    tally.right += 1
                elif frame.name_source not in ("call-target", "fde", "none", None):
                    tally.wrong.append(f"{frame.rva:#x}: {frame.function}, in truth {true[at]}")
    return tally
