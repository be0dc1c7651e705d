"""ELF files of 64 bits, little endian, put together by hand."""

from __future__ import annotations

import struct
from pathlib import Path

ET_EXEC, ET_DYN, ET_CORE = 2, 3, 4
PT_LOAD, PT_DYNAMIC, PT_NOTE = 1, 2, 4
SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_RELA, SHT_NOTE = 1, 2, 3, 4, 7
SHF_ALLOC, SHF_EXECINSTR, SHF_COMPRESSED = 2, 4, 0x800
NT_PRSTATUS, NT_PRPSINFO, NT_AUXV, NT_FILE = 1, 3, 6, 0x46494C45
CODE = 0x401000
_HEADER = 64


def note(owner: bytes, kind: int, contents: bytes) -> bytes:
    """One note, padded to 4 bytes."""
    name = owner + b"\0"
    padded = name + bytes(-len(name) % 4) + contents + bytes(-len(contents) % 4)
    return struct.pack("<III", len(name), len(contents), kind) + padded


def status(
    lwp: int, pc: int = CODE, sp: int = 0x7FFF00000000, signal: int = 11, own: int = 0
) -> bytes:
    """NT_PRSTATUS of a thread; `own` is where its thread pointer leads to."""
    data = bytearray(336)
    struct.pack_into("<iiih", data, 0, signal, 0, 0, signal)
    struct.pack_into("<i", data, 32, lwp)
    struct.pack_into("<Q", data, 112 + 16 * 8, pc)
    struct.pack_into("<Q", data, 112 + 19 * 8, sp)
    struct.pack_into("<Q", data, 112 + 21 * 8, own)
    return note(b"CORE", NT_PRSTATUS, bytes(data))


class Image:
    """Contents come one after the other; what nobody writes is a hole."""

    def __init__(self, kind: int, entry: int = 0) -> None:
        self.kind = kind
        self.entry = entry
        self.end = _HEADER
        self.parts: list[tuple[int, bytes]] = []
        self.segments: list[bytes] = []
        self.sections: list[bytes] = [bytes(64)]
        self.names = b"\0"
        self.section_names: tuple[int, int] | None = None

    def put(self, contents: bytes, alignment: int = 16) -> int:
        """Its offset in the file."""
        offset = -(-self.end // alignment) * alignment
        self.parts.append((offset, contents))
        self.end = offset + len(contents)
        return offset

    def hole(self, size: int) -> int:
        """Where so many bytes are that no disk holds."""
        offset = -(-self.end // 4096) * 4096
        self.end = offset + size
        return offset

    def segment(
        self, kind: int, offset: int, size: int, address: int = 0, flags: int = 4,
        memory: int | None = None,
    ) -> None:  # fmt: skip
        """A program header."""
        whole = size if memory is None else memory
        self.segments.append(
            struct.pack("<IIQQQQQQ", kind, flags, offset, address, address, size, whole, 4)
        )

    def section(
        self, name: str | int, kind: int, offset: int, size: int, *, flags: int = 0,
        address: int = 0, link: int = 0, info: int = 0, entry: int = 0,
    ) -> int:  # fmt: skip
        """A section header, and its number; a name may be an offset among the names."""
        if isinstance(name, str):
            at = len(self.names)
            self.names += name.encode() + b"\0"
        else:
            at = name
        self.sections.append(
            struct.pack("<IIQQQQIIQQ", at, kind, flags, address, offset, size, link, info, 4, entry)
        )
        return len(self.sections) - 1

    def code(self, size: int = 4096) -> int:
        """A .text full of ret at CODE."""
        offset = self.put(b"\xc3" * size, 4096)
        self.segment(PT_LOAD, offset, size, CODE, 5)
        return self.section(
            ".text", SHT_PROGBITS, offset, size, flags=SHF_ALLOC | SHF_EXECINSTR, address=CODE
        )

    def write(self, path: Path) -> Path:
        """The whole file."""
        if len(self.sections) > 1:
            place = self.put(self.names)
            self.section(".shstrtab", SHT_STRTAB, place, len(self.names) + 10)
            self.parts.append((self.end, b".shstrtab\0"))
            self.end += 10
        count, many = len(self.segments), len(self.segments) >= 0xFFFF
        sections = len(self.sections) if len(self.sections) > 1 or many else 0
        if many or sections >= 0xFF00:
            first = (sections, sections - 1, count if many else 0)
            self.sections[0] = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, *first, 0, 0)
        segment_table = self.put(b"".join(self.segments))
        section_table = self.put(b"".join(self.sections)) if sections else 0
        header = struct.pack(
            "<16sHHIQQQIHHHHHH",
            b"\x7fELF\x02\x01\x01" + bytes(9), self.kind, 62, 1, self.entry,
            segment_table if count else 0, section_table, 0, _HEADER, 56, 0xFFFF if many else count,
            64, 0 if sections >= 0xFF00 else sections,
            0 if not sections else 0xFFFF if sections >= 0xFF00 else sections - 1,
        )  # fmt: skip
        with path.open("wb") as file:
            file.write(header)
            for offset, contents in self.parts:
                file.seek(offset)
                file.write(contents)
            file.truncate(max(self.end, _HEADER))
        return path


def core(*notes: bytes) -> Image:
    """A core with these notes behind one another, and a page of stack."""
    image = Image(ET_CORE)
    joined = b"".join(notes)
    image.segment(PT_NOTE, image.put(joined), len(joined))
    image.segment(PT_LOAD, image.put(bytes(4096), 4096), 4096, 0x7FFF00000000, 6)
    return image


def file_note(rows: list[tuple[int, int, int]], paths: bytes) -> bytes:
    """NT_FILE: (begin, end, offset in pages), and the paths with a NUL behind each."""
    table = b"".join(struct.pack("<QQQ", *row) for row in rows)
    return note(b"CORE", NT_FILE, struct.pack("<QQ", len(rows), 4096) + table + paths)
