"""A tiny ELF reader, independent of the product: symbols, segments and notes."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

PT_LOAD, PT_NOTE = 1, 4
SHT_SYMTAB, SHT_DYNSYM, SHT_NOBITS = 2, 11, 8
STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_GNU_IFUNC = 0, 1, 2, 10
CODE = (STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE)


class ElfError(Exception):
    """The bytes are not an ELF file that this reader knows."""


@dataclass(frozen=True)
class Segment:
    """A program header."""

    kind: int
    flags: int
    offset: int
    address: int
    file_size: int
    memory_size: int


@dataclass(frozen=True)
class Symbol:
    """A symbol with an extent, in link addresses."""

    start: int
    size: int
    name: str
    kind: int
    is_global: bool


class Elf:
    """One ELF file, from its bytes."""

    def __init__(self, data: bytes) -> None:
        if data[:4] != b"\x7fELF" or data[5] != 1:
            raise ElfError("not a little-endian ELF file")
        self.data = data
        self.bits = 64 if data[4] == 2 else 32
        self.word = self.bits // 8
        header = struct.unpack_from(
            "<16xHHIQQQIHHHHHH" if self.bits == 64 else "<16xHHIIIIIHHHHHH", data
        )
        self.entry = header[3]
        self._segments_at, self._sections_at = header[4], header[5]
        self._segment_count, self._section_count = header[9], header[11]

    @cached_property
    def segments(self) -> list[Segment]:
        """The program headers."""
        found = []
        for i in range(self._segment_count):
            if self.bits == 64:
                kind, flags, offset, address, _, filed, memory, _ = struct.unpack_from(
                    "<IIQQQQQQ", self.data, self._segments_at + 56 * i
                )
            else:
                kind, offset, address, _, filed, memory, flags, _ = struct.unpack_from(
                    "<IIIIIIII", self.data, self._segments_at + 32 * i
                )
            found.append(Segment(kind, flags, offset, address, filed, memory))
        return found

    def _sections(self) -> Iterator[tuple[int, int, int, int]]:
        """(type, file offset, size, link) of each section whose header and bytes are there."""
        layout, size = ("<IIQQQQIIQQ", 64) if self.bits == 64 else ("<IIIIIIIIII", 40)
        for i in range(self._section_count):
            at = self._sections_at + size * i
            if at + size > len(self.data):
                yield 0, 0, 0, 0  # a memory image without headers: keep the indexes
                continue
            fields = struct.unpack_from(layout, self.data, at)
            yield fields[1], fields[4], fields[5], fields[6]

    def _symbols(
        self, wanted: int, kinds: tuple[int, ...] = CODE, sized: bool = True
    ) -> Iterator[Symbol]:
        """The symbols of a table; not `sized`: those without a size as well."""
        sections = list(self._sections())
        layout, size = ("<IBBHQQ", 24) if self.bits == 64 else ("<IIIBBH", 16)
        for kind, offset, length, link in sections:
            if kind != wanted:
                continue
            names_at = sections[link][1]
            for at in range(offset, min(offset + length, len(self.data) - size + 1), size):
                if self.bits == 64:
                    name, info, _, section, value, extent = struct.unpack_from(
                        layout, self.data, at
                    )
                else:
                    name, value, extent, info, _, section = struct.unpack_from(
                        layout, self.data, at
                    )
                if section == 0 or info & 15 not in kinds or (sized and not extent):
                    continue
                start = names_at + name
                text = (
                    self.data[start : self.data.index(b"\0", start)]
                    .decode("utf-8", "replace")
                    .split("@")[0]
                )
                yield Symbol(value, extent, text, info & 15, info >> 4 != 0)

    @cached_property
    def symtab(self) -> SymbolIndex:
        """The functions of .symtab."""
        return SymbolIndex(self._with_labels(list(self._symbols(SHT_SYMTAB, sized=False))))

    def _with_labels(self, symbols: list[Symbol]) -> Iterator[Symbol]:
        """Hand-written functions of musl are bare labels: `_start`, `__clone`.

        Where such a label is typed as a function, or is the entry point, and no sized symbol covers
        it, it reaches to the next symbol. Other labels stay without an extent.
        """
        sized = [symbol for symbol in symbols if symbol.size]
        yield from sized
        covering = SymbolIndex(iter(sized)).covering
        starts = sorted({symbol.start for symbol in symbols})
        for symbol in symbols:
            is_function = symbol.kind == STT_FUNC or symbol.start == self.entry
            after = bisect_right(starts, symbol.start)
            if symbol.size or not is_function or covering(symbol.start) or after == len(starts):
                continue
            yield replace(symbol, size=starts[after] - symbol.start)

    @cached_property
    def dynsym(self) -> SymbolIndex:
        """The functions of .dynsym: what survives `strip --strip-all`."""
        return SymbolIndex(self._symbols(SHT_DYNSYM))

    @cached_property
    def objects(self) -> dict[str, Symbol]:
        """The variables of .symtab by name."""
        return {symbol.name: symbol for symbol in self._symbols(SHT_SYMTAB, (STT_OBJECT,))}

    def notes(self) -> Iterator[tuple[int, str, bytes]]:
        """(type, owner, contents) of all notes."""
        for segment in self.segments:
            if segment.kind != PT_NOTE:
                continue
            at, end = segment.offset, segment.offset + segment.file_size
            while at + 12 <= end:
                name_size, size, kind = struct.unpack_from("<III", self.data, at)
                name_at = at + 12
                body = name_at + (name_size + 3 & ~3)
                yield (
                    kind,
                    self.data[name_at : name_at + name_size].rstrip(b"\0").decode("latin-1"),
                    self.data[body : body + size],
                )
                at = body + (size + 3 & ~3)

    def build_id(self) -> str | None:
        """The build id in hexadecimal digits, if any."""
        return next(
            (body.hex() for kind, owner, body in self.notes() if kind == 3 and owner == "GNU"), None
        )


class SymbolIndex:
    """Symbols by address.  Extents count: an address beyond a symbol's size has no name."""

    def __init__(self, symbols: Iterator[Symbol]) -> None:
        self._symbols = sorted(symbols, key=lambda symbol: symbol.start)
        self._starts = [symbol.start for symbol in self._symbols]
        self._longest = max((symbol.size for symbol in self._symbols), default=0)

    def __len__(self) -> int:
        return len(self._symbols)

    def covering(self, address: int) -> list[Symbol]:
        """All symbols that cover a link address, latest start first, global before local ones."""
        found = []
        for i in range(bisect_right(self._starts, address) - 1, -1, -1):
            symbol = self._symbols[i]
            if symbol.start + self._longest <= address:
                break
            if address < symbol.start + symbol.size:
                found.append(symbol)
        return sorted(
            found,
            key=lambda s: (
                -s.start,
                s.kind == STT_NOTYPE,
                not s.is_global,
                s.name.startswith("_"),
                s.name,
            ),
        )
