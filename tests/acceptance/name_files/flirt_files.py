"""FLIRT files of static libraries, as the tools for IDA make them: `.pat`, and `.sig` trees."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HEAD = 32  # bytes of a pattern
FUNCTION = {2, 10}  # STT_FUNC, STT_GNU_IFUNC
EXECUTABLE = 4
MACHINES = {3: 0, 62: 0, 8: 12, 40: 13, 183: 13, 243: 72}  # ELF's numbers, and IDA's


@dataclass
class Module:
    """A function of a library: its code, with None where linking writes."""

    code: list[int | None]
    names: list[tuple[int, str, bool]]  # offset, name, whether it is local
    references: list[tuple[int, str]] = field(default_factory=list)

    @property
    def checked(self) -> bytes:
        """What is under the check sum."""
        behind = self.code[HEAD : HEAD + 255]
        size = behind.index(None) if None in behind else len(behind)
        return bytes(byte or 0 for byte in behind[:size])


def members(archive: Path) -> Iterator[bytes]:
    """The object files of an archive."""
    data = archive.read_bytes()
    at = 8
    while at + 60 <= len(data):
        size = int(data[at + 48 : at + 58])
        if data[at + 60 : at + 64] == b"\x7fELF":
            yield data[at + 60 : at + 60 + size]
        at += 60 + size + size % 2


class ObjectFile:
    """The sections, symbols and relocations of one."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.wide = data[4] == 2
        self.order = "<" if data[5] == 1 else ">"
        table, *_, count = self.unpack(
            "QIHHHHH" if self.wide else "IIHHHHH", 40 if self.wide else 32
        )
        row = "IIQQQQIIQQ" if self.wide else "10I"
        size = struct.calcsize(self.order + row)
        self.sections = [self.unpack(row, table + size * at) for at in range(count)]
        self.symbols = list(self._symbols())
        self.machine = self.unpack("H", 18)[0]
        self.pointer_mask = ~1 if self.machine == 40 else ~0  # ARM: bit 0 says T32

    def unpack(self, form: str, at: int) -> tuple[int, ...]:
        """Numbers of the file."""
        return struct.unpack_from(self.order + form, self.data, at)

    def _symbols(self) -> Iterator[tuple[str, int, int, int, int]]:
        """Name, kind and binding, section, value and size."""
        table = next((each for each in self.sections if each[1] == 2), None)
        if table is None:
            return
        texts = self.sections[table[6]][4]
        for at in range(table[4], table[4] + table[5], 24 if self.wide else 16):
            if self.wide:
                name, info, _, section, value, size = self.unpack("IBBHQQ", at)
            else:
                name, value, size, info, _, section = self.unpack("IIIBBH", at)
            end = self.data.index(b"\0", texts + name)
            yield self.data[texts + name : end].decode(), info, section, value, size

    def relocations(self, section: int) -> Iterator[tuple[int, int, str]]:
        """Offset, size and symbol of each in a section."""
        for kind, target, start, size in (
            (row[1], row[7], row[4], row[5]) for row in self.sections
        ):
            if kind not in (4, 9) or target != section:
                continue
            word = 8 if self.wide else 4
            for at in range(start, start + size, word * (3 if kind == 4 else 2)):
                offset, info = self.unpack("QQ" if self.wide else "II", at)
                if not self.wide:
                    symbol, form = info >> 8, info & 255
                elif self.machine == 8 and self.order == "<":  # MIPS writes them one by one
                    symbol, form = info & 0xFFFFFFFF, 0
                else:
                    symbol, form = info >> 32, info & 0xFFFFFFFF
                is_word = self.wide and form == 1  # R_X86_64_64
                yield offset, 8 if is_word else 4, self.symbols[symbol][0]

    def modules(self, *, whole: bool = False) -> Iterator[Module]:
        """One of each function, or of each section."""
        for number, row in enumerate(self.sections):
            if row[1] != 1 or not row[2] & EXECUTABLE:
                continue
            code: list[int | None] = list(self.data[row[4] : row[4] + row[5]])
            references = []
            for offset, size, name in self.relocations(number):
                code[offset : offset + size] = [None] * size
                references.append((offset, name))
            functions = [
                (value & self.pointer_mask, size, name, info >> 4 == 0)
                for name, info, section, value, size in self.symbols
                if section == number and info & 15 in FUNCTION and size
            ]
            if whole:
                names = sorted((value, name, local) for value, _, name, local in functions)
                if names and names[0][0] == 0:
                    yield Module(code, names, [each for each in references if each[1]])
                continue
            for start in sorted({value for value, *_ in functions}):
                end = start + max(size for value, size, *_ in functions if value == start)
                names = [(0, name, local) for value, _, name, local in functions if value == start]
                inside = [
                    (at - start, name) for at, name in references if start <= at < end and name
                ]
                yield Module(code[start:end], names, inside)


def modules_of(archive: str, *, whole: bool = False) -> tuple[list[Module], int]:
    """Of a library, and IDA's number of its processor."""
    objects = [ObjectFile(data) for data in members(Path(archive))]
    return [module for each in objects for module in each.modules(whole=whole)], MACHINES[
        objects[0].machine
    ]


def check_sum(data: bytes) -> int:
    """FLIRT's: CRC-16 of X.25, its bytes swapped."""
    total = 0xFFFF
    for byte in data:
        total ^= byte
        for _ in range(8):
            total = total >> 1 ^ (0x8408 if total & 1 else 0)
    total = ~total & 0xFFFF
    return (total << 8 | total >> 8) & 0xFFFF if data else 0


def _bytes_text(code: Sequence[int | None]) -> str:
    return "".join(".." if byte is None else f"{byte:02X}" for byte in code)


def text_of(modules: Sequence[Module], *, references: bool = True) -> str:
    """A `.pat` file."""
    lines = []
    for module in modules:
        checked = module.checked
        words = [_bytes_text([*module.code[:HEAD], *[None] * (HEAD - len(module.code))])]
        words += [f"{len(checked):02X}", f"{check_sum(checked):04X}", f"{len(module.code):04X}"]
        words += [f":{at:04X}{'@' if local else ''} {name}" for at, name, local in module.names]
        if references:
            words += [f"^{at:04X} {name}" for at, name in module.references]
        lines.append(" ".join(words))
    return "\n".join([*lines, "---", ""])


def _number(value: int, version: int) -> bytes:
    if value < 0x80:
        return bytes([value])
    if value < 0x4000 or version < 9:
        return bytes([0x80 | value >> 8, value & 255])
    return b"\xff" + value.to_bytes(4, "big")


def _leaf(modules: Sequence[Module], version: int) -> bytes:
    """Modules with one beginning: those with one check sum behind each other."""
    by_sum: dict[bytes, list[Module]] = {}
    for module in modules:
        by_sum.setdefault(module.checked, []).append(module)
    written = b"\0"
    for number, (checked, same) in enumerate(by_sum.items()):
        written += bytes([len(checked)]) + check_sum(checked).to_bytes(2, "big")
        for place, module in enumerate(same):
            written += _number(len(module.code), version)
            more_sums = 0x10 if number + 1 < len(by_sum) else 0
            ends = 0x08 if place + 1 < len(same) else more_sums
            before = 0
            for index, (offset, name, local) in enumerate(module.names):
                more = 0x01 if index + 1 < len(module.names) else ends
                written += _number(offset - before, version) + (b"\x02" if local else b"")
                written += name.encode() + bytes([more])
                before = offset
    return written


def _node(head: Sequence[int | None], version: int) -> bytes:
    mask = sum(1 << (len(head) - 1 - at) for at, byte in enumerate(head) if byte is None)
    written = mask.to_bytes(4, "big")
    number = b"\xff" + written if mask >= 0x80 else bytes([mask])
    if len(head) < 16:
        number = _number(mask, 5)
    return bytes([len(head)]) + number + bytes(byte for byte in head if byte is not None)


def tree_of(
    modules: Sequence[Module],
    processor: int,
    *,
    version: int = 9,
    packed: bool = True,
    bits: int = 0,
) -> bytes:
    """A `.sig` file. Modules that are too large for the version are left out."""
    heads: dict[tuple[int | None, ...], list[Module]] = {}
    for module in modules:
        if len(module.code) < 0x8000 or version >= 9:
            heads.setdefault(tuple(module.code[:HEAD]), []).append(module)
    count = len(heads)
    tree = _number(count, 9) if count < 0x4000 else b"\xff" + count.to_bytes(4, "big")
    for head, same in heads.items():
        tree += _node(head, version) + _leaf(same, version)
    name = b"a library"
    header = b"IDASGN" + struct.pack("<BBIHHHHH", version, processor, 0, 0, bits, 16 * packed, 0, 0)
    header += bytes(12) + struct.pack("<BH", len(name), 0)
    if version >= 6:
        header += struct.pack("<I", len(modules))
    if version >= 8:
        header += struct.pack("<H", HEAD)
    if version >= 10:
        header += struct.pack("<H", 0)
    if packed:
        packer = zlib.compressobj(wbits=15 if version >= 7 else -15)
        tree = packer.compress(tree) + packer.flush()
    return header + name + tree
