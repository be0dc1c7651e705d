"""Bombs that are Breakpad's symbol files, for modules whose file is missing."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

from acceptance.bad_input.bombs import Command, bomb
from acceptance.bad_input.bombs.elf_image import PT_LOAD, core, file_note, status

PLACE, SIZE = 0x7000_0000_0000, 16 << 20
STACK = 0x7FFF00000000
IDENTITY = "0" * 33


def _head(name: str, identity: str = IDENTITY) -> str:
    return f"MODULE Linux x86_64 {identity} {name}\n"


def _core(folder: Path, threads: int) -> Path:
    """Of so many threads, each at another place of the module."""
    notes = [status(at + 1, PLACE + 0x1000 + at * 16) for at in range(threads)]
    image = core(*notes, file_note([(PLACE, PLACE + SIZE, 0)], b"/nowhere/libgone.so\0"))
    stack = struct.pack("<Q", PLACE + 0x2000) * 4096
    image.segment(PT_LOAD, image.put(stack, 4096), len(stack), STACK + 0x10000, 6)
    return image.write(folder / "core")


def _listed(folder: Path, lines: Iterable[str], threads: int = 2000) -> list[Command]:
    path = folder / "libgone.so.sym"
    path.write_text(_head("libgone.so") + "".join(lines))
    made = _core(folder, threads)
    given = f"--symbols={path}"
    return [["bt", "--all", str(made), given], ["modules", str(made), given]]


@bomb("symbol file")
def calls_of_one_function(folder: Path) -> list[Command]:
    """A million inlined calls in one function, and 2,000 threads in it."""
    calls = (f"INLINE 0 1 0 0 {0x1000 + at:x} 1\n" for at in range(1_000_000))
    head = ["FILE 0 a.c\n", "INLINE_ORIGIN 0 small\n", f"FUNC 1000 {SIZE - 4096:x} 0 all\n"]
    rows = f"STACK CFI INIT 1000 {SIZE - 4096:x} .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
    return _listed(folder, [*head, *calls, f"1000 {SIZE - 4096:x} 7 0\n", rows])


@bomb("symbol file")
def rows_of_one_function(folder: Path) -> list[Command]:
    """A million rows of one function."""
    rows = (f"STACK CFI {0x1001 + at:x} .cfa: $rsp {8 + at % 8} +\n" for at in range(1_000_000))
    first = f"STACK CFI INIT 1000 {SIZE - 4096:x} .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
    return _listed(folder, [first, *rows])


@bomb("symbol file")
def functions_of_one_place(folder: Path) -> list[Command]:
    """A million functions with rows at the same place."""
    row = f"STACK CFI INIT 1000 {SIZE - 4096:x} .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
    return _listed(folder, [row] * 1_000_000)


@bomb("symbol file")
def addresses_that_wrap(folder: Path) -> list[Command]:
    """Rows and functions that go on beyond the last address."""
    rows = [
        "STACK CFI INIT ffffffffffffff00 ffffffffffffffff .cfa: $rsp 8 + .ra: .cfa -8 + ^\n",
        "STACK CFI ffffffffffffffff .cfa: $rsp 16 +\n",
        "FUNC ffffffffffffff00 ffffffffffffffff 0 last\nffffffffffffff00 ffffffffffffffff 1 0\n",
    ]
    return _listed(folder, rows * 300_000)


@bomb("symbol file")
def rules_of_megabytes(folder: Path) -> list[Command]:
    """Rules of four million words, and of a value that is loaded again and again."""
    deep = f"STACK CFI INIT 1000 {SIZE - 4096:x} .cfa: $rsp " + "^ " * 60 + "\n"
    wide = "STACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: " + "$rsp " * 4_000_000 + "\n"
    labels = "STACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^ " + "$rbx: $rbx " * 2_000_000
    return _listed(folder, [wide, labels + "\n", deep * 20_000])


@bomb("symbol file")
def a_store_of_many(folder: Path) -> list[Command]:
    """8,000 missing modules of one build, with a list for each in a store."""
    identity = bytes(range(16)).hex()
    order = [3, 2, 1, 0, 5, 4, 7, 6, *range(8, 16)]
    told = "".join(f"{at:02X}" for at in order) + "0"
    place = folder / "store" / "libgone.so" / told
    place.mkdir(parents=True)
    rows = "STACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n" * 1000
    (place / "libgone.so.sym").write_text(_head("libgone.so", told) + rows)
    count = 8000
    page = _page_with_id(bytes.fromhex(identity))
    image_rows, paths = [], b""
    for at in range(count):
        begin = PLACE + at * 0x10000
        image_rows.append((begin, begin + 4096, 0))
        paths += b"/nowhere/%d/libgone.so\0" % at
    image = core(status(1, PLACE + 0x1008), file_note(image_rows, paths))
    where = image.put(page, 4096)
    for begin, _, _ in image_rows:
        image.segment(PT_LOAD, where, 4096, begin, 5)
    made = image.write(folder / "core")
    given = f"--search={folder / 'store'}"
    return [["bt", str(made), given], ["modules", str(made), given]]


def _page_with_id(identity: bytes) -> bytes:
    """The first page of a library of this build: its headers, and a note."""
    found = struct.pack("<III", 4, len(identity), 3) + b"GNU\0" + identity
    identity = b"\x7fELF\x02\x01\x01" + bytes(9)
    head = struct.pack("<16sHHIQQQIHHHHHH", identity, 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    head += struct.pack("<IIQQQQQQ", PT_LOAD, 5, 0, 0, 0, 8192, 8192, 4096)
    head += struct.pack("<IIQQQQQQ", 4, 4, 512, 512, 512, len(found), len(found), 4)
    return (head.ljust(512, b"\0") + found).ljust(4096, b"\0")
