"""A walk through addresses that an earlier one has seen says what a walk says that knows nothing,
on instruction sets that leave the return address in a register.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from acceptance.helpers import chains
from corpus.crash import ENVIRONMENT, set_limits
from oracles.tools import run
from places.needs import OWN_CORES, require

import whocall
from ports import stub_core
from ports.sets import SETS, InstructionSet
from whocall import Backtrace
from whocall.base.file_search import Search
from whocall.base.process_image import Walk

PROGRAM = r"""
#include <stdlib.h>
static int keep[8];
__attribute__((noinline)) int crash(int *p) { return *p; }
__attribute__((noinline)) int few(int n, int (*f)(int)) { return f(n) + 1; }
__attribute__((noinline)) int many(int n, int (*f)(int)) {
  int a = keep[0], b = keep[1], c = keep[2], d = keep[3], e = keep[4];
  return f(n) + a * b + c * d + e * n;
}
__attribute__((noinline)) int room(int n, int (*f)(int)) {
  volatile char b[200];
  b[n & 127] = n;
  return f(n) + b[n & 63];
}
__attribute__((noinline)) int varying(int n, int (*f)(int)) {
  volatile char *b = __builtin_alloca(n + 16);
  b[n] = 1;
  return f(n) + b[n];
}
__attribute__((noinline)) int deep(int n) {
  if (n == 0) return crash((int *)8);
  switch (n % 4) {
    case 0: return few(n - 1, deep) + 1;
    case 1: return many(n - 1, deep) + 1;
    case 2: return room(n - 1, deep) + 1;
    default: return varying(n - 1, deep) + 1;
  }
}
static int compare(const void *a, const void *b) {
  return deep(40) + *(const int *)a - *(const int *)b;
}
int main(void) {
  int values[4] = {4, 3, 2, 1};
  qsort(values, 4, sizeof values[0], compare);
  return values[0];
}
"""
WAYS = [("-O1",), ("-O2",), ("-O2", "-fno-omit-frame-pointer"), ("-O0",), ("-O2", "-static")]


def _said(trace: Backtrace) -> list[object]:
    frames = [
        (frame.pc, frame.sp, frame.cfa, frame.trust, tuple(frame.evidence), frame.interrupted)
        for frame in trace.frames
    ]
    return [*frames, trace.stop.reason, trace.stop.detail]


def _core_of(of: InstructionSet, exe: Path, place: Path) -> Path:
    command = [of.qemu, "-s", "262144", "-L", of.sysroot, str(exe)]
    if of.stub:
        core = place / "core"
        stub_core.crash(command, of.stub, core, cwd=place, env=ENVIRONMENT)
        return core
    subprocess.run(
        command, cwd=place, env=ENVIRONMENT, stderr=subprocess.DEVNULL, check=False,
        preexec_fn=lambda: set_limits(dumped=0),
    )  # fmt: skip
    (core,) = place.glob("qemu_*.core")
    return core


@pytest.mark.parametrize("name", SETS)
def test_the_same_as_by_the_full_walk(name: str, tmp_path: Path) -> None:
    require(OWN_CORES)
    of = SETS[name]
    (tmp_path / "program.c").write_text(PROGRAM)
    for number, flags in enumerate(WAYS):
        place = tmp_path / str(number)
        place.mkdir()
        exe = place / "program"
        compiler = [f"{of.triple}-gcc", "-w", *of.flags, *flags]
        run([*compiler, str(tmp_path / "program.c"), "-o", str(exe)])
        core = _core_of(of, exe, place)
        search = Search(sysroot=of.sysroot)
        with whocall.open_core(str(core), str(exe), search=search) as image:
            walks = [Walk(), Walk(), Walk(explain=True)]
            cold, warm, full = (image.report(walk=each).threads[0] for each in walks)
        listing = f"{name} {flags}\n{chains.listing(cold)}\n{chains.listing(full)}"
        assert len(full.frames) > 60, listing
        assert _said(cold) == _said(full), listing
        assert _said(warm) == _said(full), listing
