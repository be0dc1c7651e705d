"""What stands at an address, as text: the answer of `whocall symbol`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from whocall.model import marked
from whocall.style import Style

if TYPE_CHECKING:
    from whocall import _native as native
    from whocall.image import ProcessImage


def _lines(lines: list[tuple[str, str, int]]) -> Iterator[str]:
    for at, (function, file, line) in enumerate(lines):
        inlined = f" ({function}, inlined)" if at + 1 < len(lines) else ""
        yield f"    at {file}:{line}{inlined}"


def place_lines(place: native.Place, pointer_size: int, style: Style) -> Iterator[str]:
    """One line, then a line for the other names and for every source line."""
    address = style.paint("address", f"{place.address:#0{pointer_size * 2 + 2}x}")
    if place.module is None:
        yield f"{address} lies in no module"
        return
    module = style.paint("filename", place.module)
    section = f", section {place.section}" if place.section else ""
    link = "" if place.rva is None else f", link address {place.rva:#x}"
    if place.function is None:
        yield f"{address} is in no known function of {module}{section}{link}"
    else:
        offset = "" if place.offset is None else f" (+{place.offset})"
        size = "" if place.size is None else f", {place.size} bytes long"
        source = f" [{place.name_source}]" if place.name_source else ""
        name = style.paint("function", marked(place.function, place.inferred))
        yield f"{address} is {name}{offset} in {module}{section}{link}{size}{source}"
    others = [name for name in place.aliases if name not in (place.function, place.raw_name)]
    if others:
        yield "    also named " + ", ".join(style.paint("function", name) for name in others)
    yield from _lines(place.lines)


def symbol_lines(
    image: ProcessImage, addresses: list[int], demangle: bool, style: Style
) -> Iterator[str]:
    """The places at runtime addresses of a process."""
    for address in addresses:
        place = image.native.describe(address, demangle=demangle)
        yield from place_lines(place, image.pointer_size, style)


def file_symbol_lines(
    table: native.SymbolTable, address: int, demangle: bool, style: Style
) -> Iterator[str]:
    """The place at a link address of one file."""
    from whocall.engine import native

    shown = style.paint("address", f"{address:#x}")
    module = style.paint("filename", table.path)
    index = table.find(address)
    if index is None:
        yield f"{shown} is in no known function of {module}"
        return
    symbol = table[index]
    raw = [symbol.name, *(alias.name for alias in table.aliases(index))]
    names = [native.demangle(name) for name in raw] if demangle else raw
    name = style.paint("function", marked(names[0], symbol.inferred))
    size = f", {symbol.end - symbol.start} bytes long"
    yield f"{shown} is {name} (+{address - symbol.start}) in {module}{size} [{symbol.source}]"
    others = list(dict.fromkeys(other for other in names[1:] if other != names[0]))
    if others:
        yield "    also named " + ", ".join(style.paint("function", other) for other in others)
    yield from _lines(table.lines_at(address))
