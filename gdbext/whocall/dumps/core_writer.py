"""Writes an ELF core: notes, and memory that lies in another file.

What whocall's own note says no other does: which build of which file was loaded where. Its owner is
"WHOCALL", its type 0x574d4f44, its contents words of 64 bits in the core's byte order: a version
(1), the count of modules, and for each its begin and end (runtime addresses), 1 for the program or
else 0, the size of its build id and of its path (bytes); then the build ids and paths one after the
other.
"""

from __future__ import annotations

import os
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import BinaryIO

from whocall.core.long_work import working
from whocall.core.records import dataclass
from whocall.dumps.contexts import Machine
from whocall.dumps.crash_signal import Crash
from whocall.dumps.minidump import DumpModule, Memory, Region

NT_PRSTATUS, NT_PRPSINFO, NT_AUXV, NT_FILE, NT_SIGINFO = 1, 3, 6, 0x46494C45, 0x53494749
_PT_LOAD, _PT_NOTE = 1, 4
_PAGE = 4096
_LAST = (1 << 64) - 1
_DATA = 6  # PF_R | PF_W
_NO_INDEX = 0xFFFF  # e_phnum: the count stands in the first section header


@dataclass(frozen=True)
class Segment:
    """A PT_LOAD: `size` bytes of memory, of which the first `held` stand at `rva` of the dump."""

    address: int
    size: int
    held: int
    rva: int
    flags: int


def note(owner: str, kind: int, contents: bytes) -> bytes:
    """One note, padded to 4 bytes."""
    name = owner.encode() + b"\0"
    header = struct.pack("<III", len(name), len(contents), kind)
    return header + _padded(name) + _padded(contents)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def file_note(machine: Machine, regions: Iterable[Region]) -> bytes:
    """NT_FILE of the regions that name files."""
    word, last = ("Q", 1 << 64) if machine.pointer_size == 8 else ("I", 1 << 32)
    rows = [
        region
        for region in regions
        if region.path and not region.path.startswith("[")
        if region.end < last and region.offset // _PAGE < last
    ]
    places = b"".join(
        struct.pack(f"<3{word}", row.begin, row.end, row.offset // _PAGE) for row in rows
    )
    contents = struct.pack(f"<2{word}", len(rows), _PAGE) + places
    names = b"".join(row.path.encode("utf-8", "surrogateescape") + b"\0" for row in rows)
    return note("CORE", NT_FILE, contents + names)


def module_note(modules: Sequence[DumpModule]) -> bytes:
    """Whocall's own; the first module is the program."""
    rows = [struct.pack("<2Q", 1, len(modules))]
    texts = []
    for at, module in enumerate(modules):
        identity = bytes.fromhex(module.build_id)
        path = module.path.encode("utf-8", "surrogateescape")
        rows.append(struct.pack("<5Q", module.begin, module.end, at == 0, len(identity), len(path)))
        texts.append(identity + path)
    return note("WHOCALL", 0x574D4F44, b"".join(rows + texts))


def name_note(names: Iterable[tuple[int, str]]) -> bytes:
    """Whocall's own as well: for each thread with a name a word of 64 bits and the name."""
    contents = b"".join(
        struct.pack("<Q", lwp) + name.replace("\0", "").encode("utf-8", "surrogateescape") + b"\0"
        for lwp, name in names
    )
    return note("WHOCALL", 0x574E414D, contents)


def process_note(machine: Machine, pid: int, name: str, command: str) -> bytes:
    """NT_PRPSINFO."""
    wide = machine.pointer_size == 8
    contents = bytearray(136 if wide else 124)
    struct.pack_into("<I", contents, 24 if wide else 12, pid)
    start = 40 if wide else 28
    contents[start : start + 15] = name.encode("utf-8", "surrogateescape")[:15].ljust(15, b"\0")
    text = command.encode("utf-8", "surrogateescape")[:79].ljust(79, b"\0")
    contents[start + 16 : start + 95] = text
    return note("CORE", NT_PRPSINFO, bytes(contents))


def signal_note(machine: Machine, crash: Crash) -> bytes:
    """NT_SIGINFO, where the code is told: siginfo_t with the address of the fault or the sender.
    And whocall's own on what is told: words of 64 bits, namely 1 for the code + 2 for the address +
    4 for the sender, and those three.
    """
    told = (crash.code, crash.address, crash.sender)
    known = sum(1 << at for at, value in enumerate(told) if value is not None)
    words = ((value or 0) & _LAST for value in told)
    own = note("WHOCALL", 0x57534947, struct.pack("<4Q", known, *words))
    if crash.code is None:
        return own
    contents = bytearray(128)
    struct.pack_into("<iii", contents, 0, crash.signal, 0, crash.code)
    wide = machine.pointer_size == 8
    mask = (1 << machine.pointer_size * 8) - 1
    first = (crash.address or crash.sender or 0) & mask
    struct.pack_into("<Q" if wide else "<I", contents, 16 if wide else 12, first)
    return note("CORE", NT_SIGINFO, bytes(contents)) + own


def partial_map_note() -> bytes:
    """Whocall's own: there was more in the process than the segments tell."""
    return note("WHOCALL", 0x574D4150, b"")


def _disjoint(memory: Sequence[Memory]) -> list[Memory]:
    """By address; of pieces that overlap the one that begins first wins."""
    pieces: list[Memory] = []
    end = 0
    for piece in sorted(memory, key=lambda piece: (piece.address, -piece.size)):
        known = max(end - piece.address, 0)
        if known < piece.size:
            pieces.append(Memory(piece.address + known, piece.size - known, piece.rva + known))
            end = piece.address + piece.size
    return pieces


def _cut(pieces: Sequence[Memory], regions: Sequence[Region]) -> list[Memory]:
    """The same, none across the edge of a region: bytes around a program counter may be of two."""
    edges = sorted({edge for region in regions for edge in (region.begin, region.end)})
    parts = []
    for piece in pieces:
        begin, end = piece.address, piece.address + piece.size
        first, last = bisect_right(edges, begin), bisect_left(edges, end)
        places = [begin, *edges[first:last], end]
        for start, stop in zip(places, places[1:]):
            parts.append(Memory(start, stop - start, piece.rva + start - begin))
    return parts


def segments_of(memory: Sequence[Memory], regions: Sequence[Region]) -> list[Segment]:
    """Disjoint segments by address: what is held, and the rest of the regions around it.

    Memory outside all regions is data.
    """
    pieces = _cut(_disjoint(memory), regions)
    ends = [piece.address + piece.size for piece in pieces]
    flags = [_DATA] * len(pieces)
    segments = []
    done = 0
    for region in sorted(regions, key=lambda region: region.begin):
        if region.end <= done:
            continue  # of two that overlap the one that begins first wins
        done = max(done, region.begin)
        for at in range(bisect_right(ends, done), len(pieces)):
            piece = pieces[at]
            if piece.address >= region.end:
                break
            if piece.address >= region.begin:
                flags[at] = region.flags
            if piece.address > done:
                segments.append(Segment(done, piece.address - done, 0, 0, region.flags))
            done = max(done, ends[at])
        if done < region.end:
            segments.append(Segment(done, region.end - done, 0, 0, region.flags))
            done = region.end
    for piece, known in zip(pieces, flags):
        segments.append(Segment(piece.address, piece.size, piece.size, piece.rva, known))
    return sorted(segments, key=lambda segment: segment.address)


class _Shape:
    """The sizes and the layout of headers of one class of ELF."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.wide = machine.pointer_size == 8
        self.header, self.program, self.section = (64, 56, 64) if self.wide else (52, 32, 40)

    def file_header(self, count: int, sections: int) -> bytes:
        """`sections` is where the one section header stands, which exists for large counts."""
        identity = b"\x7fELF" + bytes([2 if self.wide else 1, 1, 1, 0]) + bytes(8)
        word = "Q" if self.wide else "I"
        return identity + struct.pack(
            f"<HHI3{word}IHHHHHH",
            *(4, self.machine.elf_machine, 1, 0, self.header, sections),
            *(0, self.header, self.program, min(count, _NO_INDEX)),
            *((self.section, 1, 0) if sections else (0, 0, 0)),
        )

    def program_header(self, kind: int, flags: int, offset: int, segment: Segment) -> bytes:
        place, held, size = segment.address, segment.held, segment.size
        if self.wide:
            return struct.pack("<IIQQQQQQ", kind, flags, offset, place, 0, held, size, 4)
        mask = 0xFFFFFFFF
        return struct.pack(
            "<IIIIIIII", kind, offset, place & mask, 0, held, min(size, mask), flags, 4
        )

    def large_count(self, count: int) -> bytes:
        """The section header whose sh_info is the true count of program headers."""
        form = "<IIQQQQIIQQ" if self.wide else "<IIIIIIIIII"
        return struct.pack(form, 0, 0, 0, 0, 0, 0, 0, count, 0, 0)


def write_core(
    out: BinaryIO, machine: Machine, notes: bytes, segments: Sequence[Segment], dump: memoryview
) -> None:
    """Writes the core; the memory is copied out of `dump`."""
    shape = _Shape(machine)
    count = len(segments) + 1
    large = count >= _NO_INDEX
    sections = shape.header + count * shape.program
    start = sections + (shape.section if large else 0)
    headers = [shape.file_header(count, sections if large else 0)]
    # gdb and the kernel agree that notes stand right behind the headers.
    headers.append(shape.program_header(_PT_NOTE, 0, start, Segment(0, 0, len(notes), 0, 0)))
    place = -(-(start + len(notes)) // _PAGE) * _PAGE
    data = place
    for segment in segments:
        headers.append(shape.program_header(_PT_LOAD, segment.flags, place, segment))
        place += segment.held
    if large:
        headers.append(shape.large_count(count))
    _write(out, 0, b"".join(headers) + notes)
    for at, segment in enumerate(segments):
        working("Writing the core", at / len(segments))
        _write(out, data, dump[segment.rva : segment.rva + segment.held])
        data += segment.held
    os.ftruncate(out.fileno(), data)


def _write(out: BinaryIO, place: int, data: bytes | memoryview) -> None:
    view = memoryview(data)
    done = 0
    while done < len(view):
        done += os.pwrite(out.fileno(), view[done : done + (1 << 24)], place + done)
