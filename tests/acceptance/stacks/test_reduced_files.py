"""Files whose code was taken out: unwind tables and frame pointers lead as with the whole file."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import pytest
from corpus.build import run

from acceptance.helpers import chains
from acceptance.helpers.twin_crashes import TwinCrash, build

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) int fail(int *at, int n) {
  char b[24];
  memset(b, n, sizeof b);
  return printf("%d", b[2]) + *at;
}
__attribute__((noinline)) int deep(int n, int *p) {
  char b[40];
  memset(b, n, sizeof b);
  return n > 0 ? deep(n - 1, p) + b[n] : fail(p, n) + b[1];
}
static int compare(const void *a, const void *b) { return deep(3, 0) + *(int *)a - *(int *)b; }
__attribute__((noinline)) int sorts(int n) {
  int v[4] = {4, 3, 2, n};
  qsort(v, 4, sizeof *v, compare);
  return v[0];
}
int main(int argc, char **argv) { int r = sorts(argc); printf("%d\n", r); return r; }
"""
CHAIN = ["fail", "deep", "deep", "deep", "deep", "compare", "sorts", "main", "_start"]
SECTION_HEADERS = 40  # offset of e_shoff; e_shentsize and e_shnum at 58
EXECUTABLE, PROGBITS = 4, 1


ZEROS = b"\0"
FILLS = {"zeros": ZEROS, "ones": b"\xff", "both": b"\0\0\xff\xff\xff\xff\0\0"}


def blank_code(file: Path, fill: bytes = ZEROS) -> None:
    """Overwrites all executable sections of a 64-bit ELF file."""
    data = bytearray(file.read_bytes())
    (headers,) = struct.unpack_from("<Q", data, SECTION_HEADERS)
    size, count = struct.unpack_from("<HH", data, 58)
    for at in range(headers, headers + size * count, size):
        _, kind, flags, _, offset, length = struct.unpack_from("<IIQQQQ", data, at)
        if kind == PROGBITS and flags & EXECUTABLE:
            data[offset : offset + length] = (fill * length)[:length]
    file.write_bytes(data)


def _assert_whole(built: TwinCrash) -> None:
    trace = built.trace()
    assert built.named(trace) == CHAIN, chains.listing(trace)
    assert {frame.trust for frame in trace.frames} <= {"context", "cfi", "frame-pointer"}, (
        chains.listing(trace)
    )


@pytest.mark.parametrize(
    ("flags", "fill"),
    [("-O1", "zeros"), ("-O0", "zeros"), ("-O1", "ones"), ("-O1", "both")],
)
def test_blanks_in_place_of_code(flags: str, fill: str, tmp_path: Path) -> None:
    """The core has none of it either. What calls would confirm is believed without them."""
    built = build(SOURCE, tmp_path, [flags, "-no-pie"])
    whole = chains.pcs(built.trace())
    blank_code(built.exe, FILLS[fill])
    assert chains.pcs(built.trace()) == whole
    _assert_whole(built)


def test_zeros_that_frame_pointers_lead_through(tmp_path: Path) -> None:
    """No table is left of the program, and zeros say nothing against a return address."""
    flags = ["-O1", "-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables", "-fno-exceptions"]
    built = build(SOURCE, tmp_path, flags)
    whole = chains.pcs(built.trace())
    blank_code(built.exe)
    assert chains.pcs(built.trace()) == whole
    _assert_whole(built)


@pytest.mark.parametrize("tables", [True, False], ids=["eh_frame", "debug_frame"])
def test_debug_info_in_place_of_the_program(tables: bool, tmp_path: Path) -> None:
    """`objcopy --only-keep-debug` leaves .debug_frame; beside .eh_frame there is none, and the
    frame pointers lead.
    """
    without = [] if tables else ["-fno-asynchronous-unwind-tables", "-fno-exceptions"]
    built = build(SOURCE, tmp_path, ["-O1", "-g", "-fno-omit-frame-pointer", *without])
    whole = chains.pcs(built.trace())
    kept = tmp_path / "kept"
    run(["objcopy", "--only-keep-debug", str(built.twin), str(kept)], tmp_path)
    shutil.copyfile(kept, built.exe)
    assert chains.pcs(built.trace()) == whole
    _assert_whole(built)
