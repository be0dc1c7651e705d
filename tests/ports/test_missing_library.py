"""Frames of a library whose file is missing, where calls leave the return address in a register.

The oracle is the walk with the file, before it was taken away.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from acceptance.helpers import chains
from corpus.crash import ENVIRONMENT, set_limits
from oracles.tools import run
from places.needs import OWN_CORES, require

import whocall
from ports.sets import SETS, InstructionSet
from whocall import Backtrace
from whocall.base.file_search import Search
from whocall.base.process_image import Walk

LIBRARY = r"""
extern int back(int *p, int n);
__attribute__((noinline)) void fill(char *b, int n, int size) { while (size) b[--size] = n; }
int leaf(int *p) { return *p + 1; }
int roomy(int *p, int n) { volatile char b[48]; b[n & 31] = n; b[7] = 1; return b[n & 7] + *p; }
__attribute__((noinline)) int saves(int *p, int n) {
  char b[64]; fill(b, n, sizeof b); return b[n & 7] + *p;
}
int twice(int *p, int n) { char b[40]; fill(b, n, sizeof b); return saves(p, n) + b[3]; }
int calls(int *p, int n) { char b[40]; fill(b, n, sizeof b); return back(p, n) + b[3]; }
"""
PROGRAM = r"""
extern void fill(char *, int, int);
extern int leaf(int *), roomy(int *, int), saves(int *, int), twice(int *, int);
extern int calls(int *, int);
static int which;
__attribute__((noinline)) int back(int *p, int n) { return *p + n; }
__attribute__((noinline)) int deep(int n) {
  char b[24];
  fill(b, n, sizeof b);
  if (n) return deep(n - 1) + b[n];
  switch (which) {
    case '0': return leaf((int *)8) + b[1];
    case '1': return roomy((int *)8, n) + b[1];
    case '2': return saves((int *)8, n) + b[1];
    case '3': return twice((int *)8, n) + b[1];
    default: return calls((int *)8, n) + b[1];
  }
}
int main(int argc, char **argv) {
  char b[16];
  which = argv[1][0];
  fill(b, argc, sizeof b);
  return deep(3) + b[2];
}
"""
CALLS = 5
FLAGS = (("-Os", "-fomit-frame-pointer"), ("-O1", "-fno-omit-frame-pointer"))


def _walk(core: Path, exe: Path | None, sysroot: str) -> Backtrace:
    walk = Walk(past_main=True, lines=False, demangle=False)
    search = Search(sysroot=sysroot)
    with whocall.open_core(str(core), str(exe) if exe else "", search=search) as image:
        (trace,) = image.report(walk=walk).threads
        return trace


@dataclass(frozen=True)
class Built:
    """A program whose library will be missing."""

    of: InstructionSet
    place: Path

    @property
    def exe(self) -> Path:
        """Linked with the library beside it."""
        return self.place / "program"

    def crash(self, call: int) -> Path:
        """In one of the calls."""
        require(OWN_CORES)
        subprocess.run(
            [self.of.qemu, "-s", "262144", "-L", self.of.sysroot, str(self.exe), str(call)],
            cwd=self.place,
            env=ENVIRONMENT,
            stderr=subprocess.DEVNULL,
            check=False,
            preexec_fn=lambda: set_limits(dumped=0),
        )
        (core,) = self.place.glob("qemu_program_*.core")
        return core.rename(self.place / f"core{call}")


def built_with_library(name: str, flags: tuple[str, ...], place: Path) -> Built:
    place.mkdir(exist_ok=True)
    of = SETS[name]
    compiler = [f"{of.triple}-gcc", "-w", *of.flags, *flags]
    (place / "library.c").write_text(LIBRARY)
    (place / "program.c").write_text(PROGRAM)
    run([*compiler, "-shared", "-fPIC", str(place / "library.c"), "-o", f"{place}/libgone.so"])
    linked = [f"-L{place}", "-lgone", f"-Wl,-rpath,{place}"]
    run([*compiler, str(place / "program.c"), "-o", str(place / "program"), *linked])
    return Built(of, place)


@pytest.mark.parametrize("name", ["aarch64", "arm", "thumb", "mipsel", "mips64el"])
def test_what_stands_above_is_found(name: str, tmp_path: Path) -> None:
    """Nothing false, and what has its file is there; `twice` alone may be passed over."""
    for flags in FLAGS:
        built = built_with_library(name, flags, tmp_path / flags[0])
        cores = [built.crash(call) for call in range(CALLS)]
        whole = [_walk(core, built.exe, built.of.sysroot) for core in cores]
        (built.place / "libgone.so").unlink()
        for core, true in zip(cores, whole, strict=True):
            names = [frame.function for frame in chains.physical(true)]
            assert names.count("deep") == 4, chains.listing(true)
            found = _walk(core, built.exe, built.of.sysroot)
            said = f"{name} {flags}\n{chains.listing(found)}\n{chains.listing(true)}"
            hidden = [frame.pc for frame in chains.physical(true) if frame.function == "twice"]
            wanted = [pc for pc in chains.pcs(true) if pc not in hidden]
            assert [pc for pc in chains.pcs(found) if pc not in hidden] == wanted, said
            assert found.stop.reason == true.stop.reason, said


@pytest.mark.parametrize("name", ["aarch64", "mipsel"])
def test_code_that_is_not_there_is_not_called_made_at_run_time(name: str, tmp_path: Path) -> None:
    """qemu names no files: without the program nothing tells whose code it is."""
    built = built_with_library(name, FLAGS[0], tmp_path)
    core = built.crash(2)
    built.exe.unlink()
    found = _walk(core, None, built.of.sysroot)
    assert {frame.trust for frame in found.frames} <= {"context", "scan"}, chains.listing(found)
    assert "code that is not at hand" in found.stop.detail, chains.listing(found)
    assert "no call instruction" not in found.stop.detail, chains.listing(found)
