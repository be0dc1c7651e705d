"""Which room may include or import which: the rules, and readers of includes and imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

# What each room of native/ may include besides itself. `arch` and `memory` do not know each
# other, `runtime` stands alone.
_ORDER = ["base", "arch", "memory", "object", "process", "symbols", "unwind", "symfile", "python"]
ALLOWED = {room: set(_ORDER[: place + 1]) for place, room in enumerate(_ORDER)}
ALLOWED["memory"].discard("arch")
ALLOWED["runtime"] = {"runtime"}

# Headers from outside that only one place may include.
RESERVED_HEADERS = [
    (re.compile(r"Python\.h|pybind11/"), "python/"),
    (re.compile(r"bfd\.h|bfdlink\.h"), "object/bfd/"),
]

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
_SOURCES = {".h", ".hpp", ".cpp", ".cc", ".c"}


def native_files(native: Path) -> list[Path]:
    return sorted(path for path in native.rglob("*") if path.suffix in _SOURCES)


def include_faults(native: Path) -> Iterator[str]:
    """A line for each include in the tree `native` that no arrow allows."""
    for path in native_files(native):
        name = path.relative_to(native).as_posix()
        room = name.split("/")[0]
        if room not in ALLOWED:
            yield f"{name}: `{room}` is not a room of the house"
            continue
        for quote, header in _INCLUDE.findall(path.read_text(encoding="utf-8")):
            for pattern, place in RESERVED_HEADERS:
                if pattern.match(header) and not name.startswith(place):
                    yield f"{name}: only native/{place} includes {header}"
            if quote == '"' and not (native / header).is_file():
                yield f'{name}: "{header}" is not a path from native/ on'
            elif quote == '"' and header.split("/")[0] not in ALLOWED[room]:
                yield f"{name}: no arrow leads from {room} to {header}"


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
