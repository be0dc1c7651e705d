"""What stands at an address, as text and as JSON, schema whocall.symbol/1: the answer of `whocall
symbol`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from whocall.base.model import marked
from whocall.report.form.file_names import FileNames
from whocall.report.form.jsonform import Json, hexes, hints_json
from whocall.report.form.sentences import Piece, broken, broken_pieces
from whocall.report.form.style import Style

if TYPE_CHECKING:
    import whocall._native as native


class PlaceForm(NamedTuple):
    """A `pointer_size` of 0 stands for link addresses: they are shown as they are. 0 columns: no
    line has an end."""

    style: Style
    pointer_size: int
    columns: int
    files: FileNames

    def lines(self, *pieces: Piece) -> list[str]:
        """A sentence, broken where it does not fit."""
        return broken_pieces(pieces, self.style, self.columns)


def _lines(place: native.Place, form: PlaceForm) -> Iterator[str]:
    lines = place.lines
    whole = place.absolute_files if form.files.absolute else [""] * len(lines)
    for at, (function, file, line) in enumerate(lines):
        shown = form.files.source(file, whole[at])
        pieces = [("", "    at "), ("filename", shown), ("", f":{line}")]
        if at + 1 < len(lines):
            pieces += [("", " ("), ("function", function), ("", ", inlined)")]
        yield from form.lines(*pieces)


def _hints(place: native.Place) -> Iterator[str]:
    for file, line, column, address, crate, _, near in place.source_hints:
        beside = "" if column is None else f":{column}"
        of = "" if crate is None else f" of crate {crate}"
        mark = ", near it" if near else ""
        yield f"    names {file}:{line}{beside}{of} at {address:#x}{mark}"


def _traits(place: native.Place) -> Iterator[str]:
    caller, text, imports = place.traits or (None, None, [])
    if caller is not None:
        yield f"    its only caller is {caller}"
    if text is not None:
        yield f'    it alone uses the text "{text}"'
    if imports:
        yield f"    calls: {', '.join(imports)}"


def _refused(place: native.Place) -> Iterator[str]:
    if place.refused is not None and place.rva is not None:
        name, source, start, reason = place.refused
        offset = place.rva - start
        yield f"    the nearest symbol, {name} (+{offset}) [{source}], is not its name: {reason}"


def _place(place: native.Place, module: str, form: PlaceForm) -> Iterator[Piece]:
    """The sentence. A name is whole, however long: backtraces that shorten it send people here."""
    section = f", section {place.section}" if place.section else ""
    known = form.pointer_size == 0 or place.rva is None
    link = "" if known else f", link address {place.rva:#x}"
    yield "address", f"{place.address:#0{form.pointer_size * 2 + 2}x}"
    if place.function is None:
        yield "", " is in no known function of "
        yield "filename", form.files.module(module)
        yield "", f"{section}{link}"
        return
    offset = "" if place.offset is None else f" (+{place.offset})"
    size = "" if place.size is None else f", {place.size} bytes long"
    source = f" [{place.name_source}]" if place.name_source else ""
    yield "", " is "
    yield "function", marked(place.function, place.inferred)
    yield "", f"{offset} in "
    yield "filename", form.files.module(module)
    yield "", f"{section}{link}{size}{source}"


def place_lines(place: native.Place, form: PlaceForm) -> Iterator[str]:
    """A sentence, then lines for the other names, the symbol that is not meant, and the source."""
    if place.module is None:
        address = f"{place.address:#0{form.pointer_size * 2 + 2}x}"
        yield from form.lines(("address", address), ("", " lies in no module"))
        return
    yield from form.lines(*_place(place, place.module, form))
    if place.proof:
        yield from broken(f"    named by {place.proof}", form.columns)
    others = [name for name in place.aliases if name not in (place.function, place.raw_name)]
    if others:
        named = [piece for name in others for piece in (("", ", "), ("function", name))]
        yield from form.lines(("", "    also named "), *named[1:])
    for told in _refused(place):
        yield from broken(told, form.columns)
    yield from _lines(place, form)
    for told in (*_hints(place), *_traits(place)):
        yield from broken(told, form.columns)


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
