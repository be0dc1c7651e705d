"""The schema whocall.resolve/1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from whocall.report.form.jsonform import Items, Json, hexes, pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from whocall.resolve.facts.place import Answer, Place
    from whocall.resolve.modules import Module, Modules
    from whocall.resolve.resolver import Line


def _place_json(found: tuple[Line, Place, Answer]) -> Json:
    line, place, answer = found
    return {
        "line": line.number,
        "format": line.kind,
        "level": place.level,
        "address": hexes(place.address),
        "is_return_address": answer.caller if answer.rva is not None else place.caller,
        "module": answer.module or place.module,
        "build_id": answer.build_id or place.build_id,
        "rva": hexes(answer.rva),
        "function": answer.function,
        "offset": answer.offset,
        "name_source": answer.name_source,
        "inferred": answer.inferred,
        "told": place.symbol,
        "file": answer.file,
        "verified": answer.verified,
        "source": [
            {"function": function, "file": file or None, "line": number or None}
            for function, file, number in answer.lines
        ],
    }


def _module_json(module: Module) -> Json:
    return {
        "module": module.name,
        "build_id": module.build_id,
        "state": module.state,
        "file": module.found.path if module.found is not None else None,
        "verified": module.verified and module.found is not None,
        "other_builds": [
            {"file": other.path, "build_id": other.build_id or None} for other in module.others
        ],
        "places": module.places,
    }


def _sentence(text: str) -> Any:
    return text


def _places(lines: Iterable[Line]) -> Iterator[tuple[Line, Place, Answer]]:
    for line in lines:
        for place, answer in line.places:
            yield line, place, answer


def _modules(modules: Modules) -> Iterator[Module]:
    """What is known of them when all lines have been read."""
    yield from modules.asked_for()


def _said(warnings: Callable[[], list[str]]) -> Iterator[str]:
    """When all lines have been read."""
    yield from warnings()


def resolve_json(
    path: str, lines: Iterable[Line], modules: Modules, warnings: Callable[[], list[str]]
) -> Iterator[str]:
    """JSON text in pieces; whatever the log's size, no more than a few places are held.

    `warnings` is asked for them at the end.
    """
    yield from pieces(
        {
            "schema": "whocall.resolve/1",
            "log": None if path == "-" else path,
            "places": Items(_place_json, _places(lines)),
            "modules": Items(_module_json, _modules(modules)),
            "warnings": Items(_sentence, _said(warnings)),
        }
    )
    yield "\n"
