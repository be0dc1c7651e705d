"""Return addresses of which the low bytes alone were overwritten: a string one byte too long."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from acceptance.helpers import chains
from acceptance.helpers.twin_crashes import TwinCrash, build

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static void fail(char *at) { if (at) abort(); }
__attribute__((noinline)) static void clear(volatile char *at, int n) {
  for (int i = 0; i < n; ++i) at[i] = 0;
}
__attribute__((noinline)) int work(int n) {
  char buffer[64];
  snprintf(buffer, sizeof buffer, "%d", n);
  clear(DAMAGED, BYTES);
  fail(buffer);
  return buffer[3];
}
int (*volatile pointer)(int) = work;
__attribute__((noinline)) int outer(int n) { int r = CALLED(n + 1); return r + 2; }
#ifdef ANOTHER
__attribute__((noinline)) int another(int n) { int r = work(n + 1); return r + 2; }
#endif
int main(int argc, char **argv) {
  int r = outer(argc);
  printf("%d\n", r);
  return r;
}
"""
FRAME = "(char *)__builtin_frame_address(0) + sizeof(void *)"

TABLES = ["-O0"]
OPTIMIZED = ["-O2", "-fomit-frame-pointer"]
NO_TABLES = ["-O1", "-fno-asynchronous-unwind-tables", "-fno-exceptions"]
CHAINED = [*NO_TABLES, "-fno-omit-frame-pointer"]
BUILDS = {"tables": TABLES, "optimized": OPTIMIZED, "no-tables": NO_TABLES, "chained": CHAINED}
# What is left of a return address into the program's code is where that code begins.
AT_TEXT = ["-no-pie", "-Wl,-Ttext-segment=0x40f000"]
CALLS = {"direct": ["-DCALLED=work"], "pointer": ["-DCALLED=pointer"]}


def _crash(place: Path, flags: list[str], damaged: int, *more: str) -> TwinCrash:
    return build(SOURCE.replace("DAMAGED", FRAME), place, [*flags, f"-DBYTES={damaged}", *more])


@pytest.mark.parametrize(
    ("flags", "call", "bits"),
    [
        pytest.param(flags, call, bits, id=f"{name}-{how}-{bits}")
        for (name, flags), (how, call), bits in product(BUILDS.items(), CALLS.items(), (64, 32))
    ],
)
def test_one_byte(flags: list[str], call: list[str], bits: int, tmp_path: Path) -> None:
    """The one call in those 256 bytes that may have led there is taken, and called a conclusion."""
    built = _crash(tmp_path, flags, 1, f"-m{bits}", *call)
    trace = built.trace()
    listing = chains.listing(trace)
    assert built.named(trace)[:4] == ["fail", "work", "outer", "main"], listing
    (mended,) = [frame for frame in trace.frames if "damaged-return" in frame.evidence]
    assert mended.trust == "scan", listing
    assert built.named(trace)[-1] == "_start", listing


@pytest.mark.parametrize("place", [[], AT_TEXT], ids=["anywhere", "at-the-text"])
@pytest.mark.parametrize("flags", BUILDS.values(), ids=BUILDS)
def test_two_bytes(flags: list[str], place: list[str], tmp_path: Path) -> None:
    """Of 64 KiB the only direct call is taken, whose frame was called in turn."""
    built = _crash(tmp_path, flags, 2, "-DCALLED=work", *place)
    trace = built.trace()
    assert built.named(trace)[:4] == ["fail", "work", "outer", "main"], chains.listing(trace)


@pytest.mark.parametrize("flags", BUILDS.values(), ids=BUILDS)
def test_two_that_may_have_called(flags: list[str], tmp_path: Path) -> None:
    """A function nobody called has a direct call, the true one went through a pointer."""
    built = _crash(tmp_path, flags, 1, "-DCALLED=pointer", "-DANOTHER")
    trace = built.trace()
    names = built.named(trace)
    assert "another" not in names, chains.listing(trace)
    assert names[:2] == ["fail", "work"], chains.listing(trace)
    assert names[-2:] == ["main", "_start"], chains.listing(trace)
    assert set(names[2:-2]) <= {"outer"}, chains.listing(trace)
