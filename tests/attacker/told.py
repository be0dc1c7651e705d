"""Files with a hostile name in what tells of a core's code: archives of libraries, lists of names,
PE files.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

from acceptance.bad_input.bombs.elf_image import (
    CODE,
    ET_DYN,
    PT_DYNAMIC,
    PT_LOAD,
    core,
    file_note,
    note,
    status,
)
from acceptance.bad_input.bombs.pe_files import BASE, PeImage

Made = tuple[Path, str]  # the file, and the option that leads to what else it needs

PAGE = 4096
PLACE, PID = 0x7000_0000_0000, 4242
STACK = 0x7FFF00000000


def crash(place: Path, mapped: bytes, size: int, pages: int = 0, memory: bytes = b"") -> Path:
    """A core whose thread is in the file `mapped`, of which it has so many bytes, or none."""
    info = bytearray(136)
    struct.pack_into("<I", info, 24, PID)
    rows = [(PLACE, PLACE + size, pages)]
    notes = status(1, PLACE + 0x110), note(b"CORE", 3, bytes(info))
    image = core(*notes, file_note(rows, mapped[:3000].replace(b"\0", b"") + b"\0"))
    image.segment(PT_LOAD, image.put(memory, PAGE), len(memory), PLACE, 5, size)
    return image.write(place / "input")


def _library(soname: bytes) -> bytes:
    """Of one page, which calls itself so."""
    name = b"\0" + soname[:3000] + b"\0"
    tags = struct.pack("<8Q", 5, 512, 10, len(name), 14, 1, 0, 0)
    rows = struct.pack("<IIQQQQQQ", PT_LOAD, 5, 0, 0, 0, PAGE, PAGE, PAGE)
    rows += struct.pack("<IIQQQQQQ", PT_DYNAMIC, 6, 384, 384, 384, len(tags), len(tags), 8)
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01" + bytes(9), ET_DYN, 62, 1, 0, 64,
                       0, 0, 64, 56, 2, 0, 0, 0)  # fmt: skip
    return ((head + rows).ljust(384, b"\0") + tags).ljust(512, b"\0") + name


def _archive(place: Path, entry: bytes, soname: bytes) -> Made:
    """A package of Android's with one library, stored at a whole page."""
    header = struct.pack("<IHHHHHIIIHH", 0x04034B50, 10, 0, 0, 0, 0, 0, 0, 0, len(entry), 0) + entry
    path = place / "base.apk"
    library = _library(soname).ljust(PAGE, b"\0")
    path.write_bytes((b"PK\5\6".ljust(PAGE - len(header), b"\0") + header) + library)
    return crash(place, bytes(path), PAGE, 1), f"--search={place}"


def _archive_in_memory(place: Path, name: bytes) -> Made:
    whole = _library(name).ljust(PAGE, b"\0")
    return crash(place, b"/nowhere/base.apk", PAGE, 1, whole), f"--search={place}"


def list_of(place: Path, **names: bytes) -> Made:
    """Breakpad's symbol file of a library that is not to be had."""
    told = {key: names.get(key, b"plain") for key in ("module", "function", "file", "call")}
    lines = (
        b"MODULE Linux x86_64 " + b"0" * 33 + b" " + told["module"],
        b"FILE 0 " + told["file"], b"INLINE_ORIGIN 0 " + told["call"],
        b"FUNC 100 100 0 " + told["function"], b"INLINE 0 7 0 0 100 100", b"100 100 7 0",
        b"STACK CFI INIT 100 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^",
    )  # fmt: skip
    path = place / "libgone.so.sym"
    path.write_bytes(b"\n".join(lines) + b"\n")
    return crash(place, b"/nowhere/libgone.so", PAGE), f"--symbols=libgone.so={path}"


def perf_map(place: Path, name: bytes) -> Made:
    """What a virtual machine tells of code that is in no file."""
    (place / f"perf-{PID}.map").write_bytes(b"%x 100 %s\n" % (CODE, name))
    info = bytearray(136)
    struct.pack_into("<I", info, 24, PID)
    image = core(status(PID, CODE + 16), note(b"CORE", 3, bytes(info)))
    image.segment(PT_LOAD, image.put(b"\x90" * PAGE, PAGE), PAGE, CODE, 5)
    return image.write(place / "input"), f"--search={place}"


def _pe(place: Path, name: bytes) -> Made:
    """A library of Windows, in a file of this name."""
    file = PeImage()
    code = file.section(b".text", b"\xc3" * PAGE, 0x60000020)
    file.export(b"plain", code)
    path = place / os.fsdecode(name.replace(b"/", b"|")[:200])
    file.write(path)
    return path, ""


def _microdump(place: Path, name: bytes) -> Made:
    """Of one thread, in the module of this name."""
    context = bytearray(1232)
    struct.pack_into("<Q", context, 0xF8, PLACE + 0x110)
    struct.pack_into("<Q", context, 0x98, STACK)
    begin, end = (b"-----%s BREAKPAD MICRODUMP-----" % word for word in (b"BEGIN", b"END"))
    lines = (
        begin, b"O L x86_64 01 x86_64 6.1", b"S 0 %x %x %x" % (STACK, STACK, 16),
        b"S %X %s" % (STACK, b"41" * 16), b"C " + context.hex().encode(),
        b"M %X 0 1000 %s %s" % (PLACE, b"0" * 33, name), end,
    )  # fmt: skip
    path = place / "input"
    path.write_bytes(b"".join(b"F/google-breakpad( 7): %s\n" % line for line in lines))
    return path, f"--search={place}"


FIELDS: dict[str, Callable[[Path, bytes], Made]] = {
    "entry of an archive": lambda at, name: _archive(at, name.replace(b"/", b"|"), b"libown.so"),
    "soname in an archive": lambda at, name: _archive(at, b"", name.replace(b"\0", b"")),
    "soname in memory, of an archive": _archive_in_memory,
    "module of a symbol list": lambda at, name: list_of(at, module=name),
    "function of a symbol list": lambda at, name: list_of(at, function=name),
    "file of a symbol list": lambda at, name: list_of(at, file=name),
    "inlined call of a symbol list": lambda at, name: list_of(at, call=name),
    "function of a perf map": perf_map,
    "module of a microdump": _microdump,
    "name of a library": _pe,
}
UNSEEN = {"module of a symbol list"}
"""What is told only where it does not fit."""

ADDRESS = hex(BASE + 0x100000)
