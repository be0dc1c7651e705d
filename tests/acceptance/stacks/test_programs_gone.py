"""Programs whose files are gone, glibc's code with them: nothing is left but the stack.

The C library is part of the program, or a copy of this machine's that goes with it.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from corpus.build import run
from corpus.crash import crash

import whocall
from acceptance.helpers import chains

SOURCE = r"""
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static volatile int depth;
/* What runs before main leaves return addresses where start-up code has its frame. */
__attribute__((noinline)) static int dig(int n) {
  volatile char room[64] = {0};
  return n ? dig(n - 1) + room[n] : (int)(long)memset((void *)room, n, sizeof room);
}
__attribute__((constructor)) static void early(void) { depth = dig(12) & 3; }
__attribute__((noinline)) static int inside(int n) {
  char room[40];
  memset(room, n, sizeof room);
  if (n == 7) *(volatile int *)8 = 1;
  return room[n] + depth;
}
__attribute__((noinline)) static int outer(int n) { return inside(n) + 1; }
static void *work(void *x) { return (void *)(long)(outer(x ? 7 : 1) + 1); }
int main(int argc, char **argv) {
  pthread_t id;
  if (THREAD && pthread_create(&id, NULL, work, argv) == 0) pthread_join(id, NULL);
  return outer(argc > 5 ? 1 : 7) + 1;
}
"""
LINKED = {
    "static": ["-static", "-no-pie"],
    "static-pie": ["-static-pie"],
    "dynamic": ["-no-pie"],
    "dynamic-pie": ["-pie"],
}
LIBRARIES = {"-m64": ("libc.so.6", "ld-linux-x86-64.so.2"), "-m32": ("libc.so.6", "ld-linux.so.2")}


def _own_libraries(place: Path, machine: str) -> list[str]:
    """Copies in a folder, and the flags with which a program is run by them."""
    place.mkdir()
    for name in LIBRARIES[machine]:
        asked = ["gcc", machine, f"-print-file-name={name}"]
        shutil.copy(subprocess.check_output(asked, text=True).strip(), place / name)
    return [f"-Wl,--dynamic-linker={place / LIBRARIES[machine][1]}", f"-Wl,-rpath,{place}"]


def _made(place: Path, linked: str, machine: str, *flags: str) -> tuple[Path, Path]:
    """The program, and the folder of its libraries, which may be missing."""
    (place / "program.c").write_text(SOURCE, encoding="utf-8")
    exe, libraries = place / "program", place / "lib"
    words = [machine, *LINKED[linked], "-pthread", "-fomit-frame-pointer", *flags]
    if linked.startswith("dynamic"):
        words += _own_libraries(libraries, machine)
    run(["gcc", "-w", *words, "program.c", "-o", str(exe)], place)
    return exe, libraries


def _with_and_without_files(
    place: Path, linked: str, machine: str, *flags: str
) -> tuple[whocall.Backtrace, whocall.Backtrace]:
    """The thread that crashed, each time; nothing that is found without is surer than a search."""
    exe, libraries = _made(place, linked, machine, *flags)
    core = crash(exe, place).core
    true = next(trace for trace in chains.of_core(core, exe).values() if trace.crashed)
    assert {frame.trust for frame in true.frames} <= {"context", "cfi"}, chains.listing(true)
    names = [frame.function for frame in true.frames][:3]
    last = "work" if "-DTHREAD=1" in flags else "main"
    assert names == ["inside", "outer", last], chains.listing(true)
    exe.unlink()
    shutil.rmtree(libraries, ignore_errors=True)
    found = chains.of_core(core)[true.lwp]
    assert {frame.trust for frame in found.frames} == {"context", "scan"}, chains.listing(found)
    return true, found


@pytest.mark.parametrize("thread", [0, 1], ids=["main", "thread"])
@pytest.mark.parametrize("level", ["-O1", "-O2", "-Os"])
@pytest.mark.parametrize("linked", LINKED)
def test_from_start_up_code_on(linked: str, level: str, thread: int, tmp_path: Path) -> None:
    """As with the files, frame by frame; and nothing is surer than a search."""
    true, found = _with_and_without_files(tmp_path, linked, "-m64", level, f"-DTHREAD={thread}")
    assert chains.pcs(found) == chains.pcs(true), chains.listing(found) + chains.listing(true)


@pytest.mark.parametrize("thread", [0, 1], ids=["main", "thread"])
@pytest.mark.parametrize("level", ["-O1", "-O2", "-Os"])
@pytest.mark.parametrize("linked", LINKED)
def test_start_up_code_of_i386(linked: str, level: str, thread: int, tmp_path: Path) -> None:
    """Below it lie return addresses of calls that ask for the pc, and are long over, and what is as
    even as the address of a function is taken for one: the frames of start-up code are exact, and
    of the others none else is missing.
    """
    flags = (level, f"-DTHREAD={thread}", "-fno-ipa-stack-alignment")
    true, found = _with_and_without_files(tmp_path, linked, "-m32", *flags)
    pcs, all_true = chains.pcs(found), chains.pcs(true)
    listing = chains.listing(found) + chains.listing(true)
    assert pcs[-len(all_true[3:]) :] == all_true[3:], listing
    odd = [pc for pc in all_true if pc % 16]
    assert [pc for pc in pcs if pc in odd] == odd, listing


ANONYMOUS_ONLY = 0x3  # of coredump_filter: not the first pages of files


@pytest.mark.parametrize("linked", ["dynamic", "dynamic-pie"])
def test_the_end_is_known_without_headers(linked: str, tmp_path: Path) -> None:
    """The kernel's own word on where the program begins is in every core."""
    exe, libraries = _made(tmp_path, linked, "-m64", "-O1", "-DTHREAD=0")
    core = crash(exe, tmp_path, dumped=ANONYMOUS_ONLY).core
    (true,) = chains.of_core(core, exe).values()
    exe.unlink()
    shutil.rmtree(libraries)
    (found,) = chains.of_core(core).values()
    assert chains.pcs(found) == chains.pcs(true), chains.listing(found) + chains.listing(true)
    assert found.stop.reason == "end-of-stack", chains.listing(found)
    assert found.stop.detail == f"the entry point of {exe}"


LEFTOVERS = r"""
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static void *in_libc;
static int compare(const void *a, const void *b) {
  in_libc = __builtin_return_address(0);
  return *(const int *)a - *(const int *)b;
}
__attribute__((noinline)) static int inside(int n) {
  char room[40];
  memset(room, n, sizeof room);
  if (n == 7) *(volatile int *)8 = 1;
  return room[n];
}
/* What calls left here that are over, and pointers to functions of which none is so often as a
   return address of a recursion. */
__attribute__((noinline)) static int middle(int n) {
  volatile uintptr_t left[40];
  for (int i = 0; i < 40; ++i)
    left[i] = ((uintptr_t)inside & ~(uintptr_t)15) + 16 * (i * i * 7 % 31 % 13);
  left[0] = left[1] = (uintptr_t)inside + 5;
  left[2] = left[3] = (uintptr_t)in_libc;
  return inside(n) + (int)left[n];
}
__attribute__((noinline)) static int outer(int n) { return middle(n) + 1; }
int main(int argc, char **argv) {
  int numbers[] = {3, 1, 2};
  qsort(numbers, 3, sizeof *numbers, compare);
  return outer(argc > 5 ? 1 : 7) + 1;
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O1"])
@pytest.mark.parametrize("linked", ["-no-pie", "-pie"])
def test_leftovers_below_the_chain_of_frame_pointers(
    linked: str, level: str, tmp_path: Path
) -> None:
    """A leftover in the C library, whose file is there, leads to a pointer to a function of the
    program, whose file is gone: no sure frame that the chain would pass over.
    """
    (tmp_path / "program.c").write_text(LEFTOVERS, encoding="utf-8")
    exe = tmp_path / "program"
    words = [linked, level, "-fno-omit-frame-pointer", "program.c", "-o", str(exe)]
    run(["gcc", "-w", *words], tmp_path)
    core = crash(exe, tmp_path).core
    (true,) = chains.of_core(core, exe).values()
    assert {frame.trust for frame in true.frames} <= {"context", "cfi"}, chains.listing(true)
    exe.unlink()
    (found,) = chains.of_core(core).values()
    assert chains.pcs(found) == chains.pcs(true), chains.listing(found) + chains.listing(true)
