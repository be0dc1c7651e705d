"""What stands at an address, as text and as JSON, schema whocall.symbol/1: the answer of `whocall
symbol`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from whocall.core.model import marked
from whocall.core.printable import printable
from whocall.report.form.jsonform import Json, hexes, hints_json
from whocall.report.form.style import Style

if TYPE_CHECKING:
    import whocall._native as native


def _lines(lines: list[tuple[str, str, int]]) -> Iterator[str]:
    for at, (function, file, line) in enumerate(lines):
        inlined = f" ({function}, inlined)" if at + 1 < len(lines) else ""
        yield printable(f"    at {file}:{line}{inlined}")


def _hints(place: native.Place) -> Iterator[str]:
    for file, line, column, address, crate, _, near in place.source_hints:
        beside = "" if column is None else f":{column}"
        of = "" if crate is None else f" of crate {crate}"
        mark = ", near it" if near else ""
        yield printable(f"    names {file}:{line}{beside}{of} at {address:#x}{mark}")


def _traits(place: native.Place) -> Iterator[str]:
    caller, text, imports = place.traits or (None, None, [])
    if caller is not None:
        yield printable(f"    its only caller is {caller}")
    if text is not None:
        yield printable(f'    it alone uses the text "{text}"')
    if imports:
        yield printable(f"    calls: {', '.join(imports)}")


def _refused(place: native.Place) -> Iterator[str]:
    if place.refused is not None and place.rva is not None:
        name, source, start, reason = place.refused
        offset = place.rva - start
        refused = f"    the nearest symbol, {name} (+{offset}) [{source}], is refused: {reason}"
        yield printable(refused)


def place_lines(place: native.Place, pointer_size: int, style: Style) -> Iterator[str]:
    """One line, then lines for the other names, the symbol that is not meant, and the source.

    A `pointer_size` of 0 stands for link addresses: they are shown as they are.
    """
    address = style.paint("address", f"{place.address:#0{pointer_size * 2 + 2}x}")
    if place.module is None:
        yield f"{address} lies in no module"
        return
    module = style.paint("filename", place.module)
    section = f", section {printable(place.section)}" if place.section else ""
    known = pointer_size == 0 or place.rva is None
    link = "" if known else f", link address {place.rva:#x}"
    if place.function is None:
        yield f"{address} is in no known function of {module}{section}{link}"
    else:
        offset = "" if place.offset is None else f" (+{place.offset})"
        size = "" if place.size is None else f", {place.size} bytes long"
        source = f" [{place.name_source}]" if place.name_source else ""
        name = style.paint("function", marked(place.function, place.inferred))
        yield f"{address} is {name}{offset} in {module}{section}{link}{size}{source}"
    if place.proof:
        yield printable(f"    named by {place.proof}")
    others = [name for name in place.aliases if name not in (place.function, place.raw_name)]
    if others:
        yield "    also named " + ", ".join(style.paint("function", name) for name in others)
    yield from _refused(place)
    yield from _lines(place.lines)
    yield from _hints(place)
    yield from _traits(place)


def places_json(places: Iterable[native.Place], complaints: Iterable[str]) -> Json:
    """Schema whocall.symbol/1."""
    return {
        "schema": "whocall.symbol/1",
        "warnings": list(complaints),
        "places": [_place_json(place) for place in places],
    }


def _traits_json(place: native.Place) -> Json | None:
    if place.traits is None:
        return None
    caller, text, imports = place.traits
    return {"only_caller": caller, "only_text": text, "imports": imports}


def _place_json(place: native.Place) -> Json:
    refused = None
    if place.refused is not None:
        name, source, start, reason = place.refused
        refused = {"function": name, "source": source, "start": hexes(start), "reason": reason}
    return {
        "address": hexes(place.address),
        "module": place.module,
        "build_id": place.build_id,
        "rva": hexes(place.rva),
        "section": place.section,
        "function": place.function,
        "raw_name": place.raw_name,
        "inferred": place.inferred,
        "offset": place.offset,
        "size": place.size,
        "source": place.name_source,
        "proof": place.proof,
        "aliases": list(place.aliases),
        "refused": refused,
        "lines": [
            {"function": function, "file": file, "line": line}
            for function, file, line in place.lines
        ],
        "source_hints": hints_json(place.source_hints),
        "traits": _traits_json(place),
    }
