"""Which room may include or import which: the rules, and readers of includes and imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

# The rooms of native/ from the ground up; "symbols/table" is a room inside another. Each may
# include itself and all that stand before it here, but for BESIDE and ALONE.
ORDER = [
    *("base", "arch", "memory", "object", "object/bfd", "process"),
    *("symbols/table", "symbols/starts", "symbols/inferred", "symbols/lists"),
    *("symbols/signatures", "symbols/jit", "symbols"),
    *("unwind/rows", "unwind/code", "unwind/analysis", "unwind/walk", "unwind/audit"),
    *("symfile", "python"),
]

# Rooms that stand beside each other, and do not know each other.
BESIDE = [
    {"arch", "memory"},
    {"symbols/inferred", "symbols/lists", "symbols/signatures", "symbols/jit"},
    {"unwind/walk", "unwind/audit"},
]

# Rooms that nobody else knows: a plugin, and the library that goes into other programs.
ALONE = {"object/bfd", "runtime"}


def _allowed() -> dict[str, set[str]]:
    allowed = {room: set(ORDER[: place + 1]) - ALONE | {room} for place, room in enumerate(ORDER)}
    for beside in BESIDE:
        for room in beside:
            allowed[room] -= beside - {room}
    return {**allowed, "runtime": {"runtime"}}


ALLOWED = _allowed()

# Headers from outside that only one place may include.
RESERVED_HEADERS = [
    (re.compile(r"Python\.h|pybind11/"), "python/"),
    (re.compile(r"bfd\.h|bfdlink\.h"), "object/bfd/"),
]

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
_SOURCES = {".h", ".hpp", ".cpp", ".cc", ".c"}


def native_files(native: Path) -> list[Path]:
    return sorted(path for path in native.rglob("*") if path.suffix in _SOURCES)


def room_of(name: str) -> str:
    """The room of a path below native/: "symbols/table" of "symbols/table/symbol.h"."""
    return name.rpartition("/")[0]


def _includes(path: Path) -> list[tuple[str, str]]:
    """The quote and the header of each include."""
    return _INCLUDE.findall(path.read_text(encoding="utf-8"))


def include_faults(native: Path) -> Iterator[str]:
    """A line for each include in the tree `native` that no arrow allows."""
    for path in native_files(native):
        name = path.relative_to(native).as_posix()
        room = room_of(name)
        if room not in ALLOWED:
            yield f"{name}: `{room}` is not a room of the house"
            continue
        for quote, header in _includes(path):
            for pattern, place in RESERVED_HEADERS:
                if pattern.match(header) and not name.startswith(place):
                    yield f"{name}: only native/{place} includes {header}"
            if quote == '"' and not (native / header).is_file():
                yield f'{name}: "{header}" is not a path from native/ on'
            elif quote == '"' and room_of(header) not in ALLOWED[room]:
                yield f"{name}: no arrow leads from {room} to {header}"


def include_circles(native: Path) -> list[list[str]]:
    """Files that include each other in a circle; a header and its source count as one."""
    arrows: dict[str, set[str]] = {}
    for path in native_files(native):
        unit = path.relative_to(native).with_suffix("").as_posix()
        headers = (header for quote, header in _includes(path) if quote == '"')
        arrows.setdefault(unit, set()).update(header.rpartition(".")[0] for header in headers)
    return circles(arrows)


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Groups of more than one node, each of which leads to every other; arrows to itself are none.

    A node is in a circle when it is among those that it leads to.
    """
    reached: dict[str, set[str]] = {}
    for start in arrows:
        seen: set[str] = set()
        pending = list(arrows[start] - {start})
        while pending:
            node = pending.pop()
            if node not in seen:
                seen.add(node)
                pending += arrows.get(node, set()) - {node}
        reached[start] = seen
    found = {
        tuple(sorted({other for other in reached[node] if node in reached.get(other, set())}))
        for node in arrows
        if node in reached[node]
    }
    return [list(circle) for circle in sorted(found)]


def imported_modules(path: Path, package_root: Path) -> Iterator[str]:
    """The full name of every module that a Python file may import, wherever the import stands."""
    parents = path.relative_to(package_root).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = list(parents[: len(parents) - node.level + 1]) if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def import_faults(gdbext: Path) -> Iterator[str]:
    """A line for each import below `gdbext` that no arrow allows."""
    for path in sorted(gdbext.rglob("*.py")):
        name = path.relative_to(gdbext).as_posix()
        in_gdb_room = name.startswith("whocall/gdb/")
        for module in dict.fromkeys(imported_modules(path, gdbext)):
            if _within(module, "gdb") and not in_gdb_room:
                yield f"{name}: only gdbext/whocall/gdb imports gdb"
            is_entry = name == "whocall.py"
            if _within(module, "whocall.gdb") and not in_gdb_room and not is_entry:
                yield f"{name}: the package without gdb imports {module}"
