"""Which room may include or import which: the rules, and readers of includes and imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

# What a walk is made of.
WALK = ("unwind", "unwind/judge", "unwind/search", "unwind/strategies", "unwind/walk")

# What makes images of processes.
IMAGE_MAKERS = ("process/modules", "process/core", "process/live", "process/minidump")

# The rooms of native/ from the ground up; "symbols/table" is a room inside another. Each may
# include itself and all that stand before it here, but for BESIDE and ALONE.
ORDER = [
    *("base", "rules", "arch", "memory", "packing"),
    *("object", "object/bfd", "object/dw", "golang", "files"),
    *("process", "process/input", "process/jit", "process/modules"),
    *("process/core", "process/live", "process/minidump"),
    *("symbols/table", "symbols/discovery", "symbols/inferred", "symbols/external"),
    *("symbols/languages", "symbols/flirt", "symbols/signatures", "symbols/jit", "symbols"),
    *("unwind/rows", "unwind/code", "unwind/analysis", "unwind/audit"),
    *WALK,
    *("arguments", "waits", "symfile"),
    *("report/form", "report/causes", "report/waits", "report", "tracing", "python"),
]

# Rooms that stand beside each other, and do not know each other.
BESIDE = [
    {"arch", "memory"},
    {"rules", "arch"},
    {"rules", "memory"},
    *({"packing", room} for room in ("rules", "arch", "memory")),
    {"golang", "files"},
    {"process/live", "process/minidump"},
    {"process/live", "process/input"},
    *({"process/input", room} for room in ("process", "process/modules", "process/core")),
    *({"process/jit", room} for room in ("process/input", *IMAGE_MAKERS)),
    {"symbols/inferred", "symbols/external", "symbols/signatures", "symbols/jit"},
    *({"symbols/flirt", room} for room in ("symbols/inferred", "symbols/external", "symbols/jit")),
    *({"symbols/languages", f"symbols/{room}"} for room in ("inferred", "external", "flirt")),
    *({"symbols/languages", f"symbols/{room}"} for room in ("signatures", "jit")),
    *({"unwind/audit", room} for room in WALK),
    {"report/causes", "report/waits"},
]

# The instruction sets: each is known to the list of them alone, and knows what all of them share.
SETS = ("arch/x86", "arch/arm", "arch/aarch64", "arch/mips", "arch/riscv", "arch/loongarch")
LIST_OF_SETS = "arch/architectures.cpp"
# Plain numbers, and readers that need nothing: for libwhocall as well.
FREESTANDING = {
    *(f"{room}/frame_facts.h" for room in SETS),
    *("arch/code_step.h", "arch/x86/step_form.h"),
    *(f"arch/{room}/code_step.{end}" for room in ("x86", "aarch64") for end in ("h", "cpp")),
}

# Rooms that nobody else knows: plugins.
ALONE = {"object/bfd", "object/dw"}

# Libraries that go into other programs know the rules, and each other as here.
IN_PROCESS = {
    "runtime": {"rules", "runtime"},
    "runtime/crash": {"rules", "runtime", "runtime/crash"},
    "runtime/cxx": set(),  # headers that are installed: they name each other as programs do
    "runtime/cxx/whocall": set(),
    "runtime/preload": {"runtime", "runtime/crash", "runtime/preload"},
    "runtime/trace": {"rules", "runtime", "runtime/trace"},
}


# The rooms of gdbext/whocall by the same rules; "" is the package's own folder.
PACKAGE_ORDER = [
    *("commands", "base", "inside", "dumps", "container_images", "inputs"),
    *("report/form", "report/backtrace"),
    *("report/comparison", "report/stack", "report/tables", "report/formats"),
    *("report/causes", "report/page", "report"),
    *("resolve/facts", "resolve/grammar", "resolve/formats", "resolve", "tracing", "triage"),
    "receiving",
    *("repair", "shared_front_end", "gdb_helper", "cli", "cli/commands", ""),
    *("gdb/host", "gdb/target", "gdb/repair", "gdb/commands", "gdb"),
]
_GDB = [room for room in PACKAGE_ORDER if room.startswith("gdb")]
PACKAGE_BESIDE = [
    {"report/comparison", "report/stack", "report/tables", "report/formats"},
    {"resolve", "tracing", "triage"},
    *({"receiving", room} for room in ("tracing", "triage")),
    *({"gdb_helper", room} for room in ("cli", "cli/commands")),
    *({outside, room} for outside in ("cli", "cli/commands", "") for room in _GDB),
]


def _allowed(order: list[str], beside: list[set[str]], alone: set[str]) -> dict[str, set[str]]:
    allowed = {room: set(order[: place + 1]) - alone | {room} for place, room in enumerate(order)}
    for rooms in beside:
        for room in rooms:
            allowed[room] -= rooms - {room}
    return allowed


ALLOWED = {**_allowed(ORDER, BESIDE, ALONE), **IN_PROCESS}
ALLOWED |= {room: {"base", "arch", room} for room in SETS}
ALLOWED["tracing"].add("runtime/trace")  # the layout of what hooks leave in memory
PACKAGE_ALLOWED = _allowed(PACKAGE_ORDER, PACKAGE_BESIDE, set())

# Headers from outside that only one place may include.
RESERVED_HEADERS = [
    (re.compile(r"Python\.h|pybind11/"), "python/"),
    (re.compile(r"bfd\.h|bfdlink\.h"), "object/bfd/"),
    (re.compile(r"dwarf\.h|elfutils/libdw|elfutils/known-dwarf\.h"), "object/dw/"),
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


def _is_allowed(name: str, header: str) -> bool:
    room = room_of(name)
    return (
        room_of(header) in ALLOWED[room]
        or (name == LIST_OF_SETS and room_of(header) in SETS)
        or (room == "runtime" and header in FREESTANDING)
    )


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
            elif quote == '"' and name in FREESTANDING and header not in FREESTANDING:
                yield f"{name}: what stands alone needs no {header}"
            elif quote == '"' and not _is_allowed(name, header):
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


def python_modules(gdbext: Path) -> dict[str, Path]:
    """The Python files below `gdbext` by the names of their modules.

    A file beside a package of its name, which nobody can import then, keeps its ".py".
    """
    found = {}
    for path in sorted(gdbext.rglob("*.py")):
        parts = path.relative_to(gdbext).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[f"{name}.py" if path.with_suffix("").is_dir() else name] = path
    return found


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def import_faults(gdbext: Path) -> Iterator[str]:
    """A line for each import below `gdbext` that no arrow allows.

    The entry file, whocall.py beside the package, chooses between gdb and the command line.
    """
    modules = python_modules(gdbext)
    package = gdbext / "whocall"
    for path in modules.values():
        name = path.relative_to(gdbext).as_posix()
        if package not in path.parents:
            if name != "whocall.py":
                yield f"{name}: stands beside the package"
            continue
        room = room_of(path.relative_to(package).as_posix())
        if room not in PACKAGE_ALLOWED:
            yield f"{name}: `{room}` is not a room of the house"
            continue
        for module in dict.fromkeys(imported_modules(path, gdbext)):
            if _within(module, "gdb") and not name.startswith("whocall/gdb/"):
                yield f"{name}: only gdbext/whocall/gdb imports gdb"
            target = modules.get(module)
            if target is None or package not in target.parents:
                continue
            if room_of(target.relative_to(package).as_posix()) not in PACKAGE_ALLOWED[room]:
                yield f"{name}: no arrow leads from {room} to {module}"


def import_circles(gdbext: Path) -> list[list[str]]:
    """Modules that import each other in a circle, in functions and for types too.

    An import out of a package counts as one of the package, whose __init__ it runs.
    """
    modules = python_modules(gdbext)
    return circles(
        {
            module: modules.keys() & set(imported_modules(path, gdbext))
            for module, path in modules.items()
        }
    )
