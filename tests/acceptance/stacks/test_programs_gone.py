"""Programs whose files are gone, glibc's code with them: nothing is left but the stack."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus.build import run
from corpus.crash import crash

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
LINKED = {"static": ["-static", "-no-pie"], "static-pie": ["-static-pie"]}


@pytest.mark.parametrize("thread", [0, 1], ids=["main", "thread"])
@pytest.mark.parametrize("level", ["-O1", "-O2", "-Os"])
@pytest.mark.parametrize("linked", LINKED.values(), ids=LINKED)
def test_from_start_up_code_on(linked: list[str], level: str, thread: int, tmp_path: Path) -> None:
    """As with the file, frame by frame; and nothing is surer than a search."""
    (tmp_path / "program.c").write_text(SOURCE, encoding="utf-8")
    exe = tmp_path / "program"
    flags = [f"-DTHREAD={thread}", "-pthread", "-fomit-frame-pointer"]
    run(["gcc", "-w", level, *linked, *flags, "program.c", "-o", str(exe)], tmp_path)
    core = crash(exe, tmp_path).core
    true = next(trace for trace in chains.of_core(core, exe).values() if trace.crashed)
    assert {frame.trust for frame in true.frames} <= {"context", "cfi"}, chains.listing(true)
    names = [frame.function for frame in true.frames][:3]
    assert names == ["inside", "outer", "work" if thread else "main"], chains.listing(true)
    exe.unlink()
    found = chains.of_core(core)[true.lwp]
    assert chains.pcs(found) == chains.pcs(true), chains.listing(found) + chains.listing(true)
    assert {frame.trust for frame in found.frames} == {"context", "scan"}, chains.listing(found)
