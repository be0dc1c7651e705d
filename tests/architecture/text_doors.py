"""Where text leaves: only some modules write to the terminal, to gdb, or into files of text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

# Modules below gdbext/whocall that may write there; all of them make printable what they write.
STREAMS = {
    *("cli/outputs.py", "cli/main.py", "cli/progress.py", "cli/streams.py"),
    "cli/redirected.py",  # into a file, what the others say
}
GDB = {"gdb/host/output.py"}
WINDOWS = {"gdb/commands/stack_window.py", "gdb/commands/tui.py"}
FILES = {
    *("report/page/writing.py", "cli/commands/trace.py", "cli/commands/triage.py"),
    *("gdb/commands/trace.py", "triage/representatives.py"),
    "triage/work.py",  # a note from one process to the other
    "base/limits.py",  # a number for the kernel
}

_HARMLESS = {"isatty", "fileno"}  # what may be asked of a stream


def _name(node: ast.AST) -> str:
    """`sys.stdout.write` of an expression that is names alone."""
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _opens_text(call: ast.Call) -> bool:
    """Whether it is `open` with a mode that writes text."""
    words = [*call.args, *(keyword.value for keyword in call.keywords)]
    modes = [word.value for word in words if isinstance(word, ast.Constant)]
    return any(isinstance(mode, str) and set(mode) & set("wax") and set(mode) <= set("waxt+")
               for mode in modes)  # fmt: skip


def _call_faults(call: ast.Call) -> Iterator[tuple[str, set[str]]]:
    name = _name(call.func)
    last = name.rpartition(".")[2] or (
        call.func.attr if isinstance(call.func, ast.Attribute) else ""
    )
    if name == "print":
        yield "print()", set()
    if name in ("gdb.write", "gdb.GdbError"):
        yield f"{name}()", GDB
    if last == "write" and "window" in name:
        yield "a window's write()", WINDOWS
    if (last == "write_text" and name != "write_text") or (last == "open" and _opens_text(call)):
        yield "a file of text", FILES
    if last == "dump" and name == "json.dump":
        yield "json.dump()", set()


def door_faults(package: Path) -> Iterator[str]:
    """A line for each place below `package` where text leaves beside the doors."""
    for path in sorted(package.rglob("*.py")):
        home = path.relative_to(package).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        asked = {id(node.value) for node in ast.walk(tree)
                 if isinstance(node, ast.Attribute) and node.attr in _HARMLESS}  # fmt: skip
        for node in ast.walk(tree):
            found: list[tuple[str, set[str]]] = []
            if isinstance(node, ast.Call):
                found += _call_faults(node)
                if _name(node.func) == "style_for":  # asks whether it is a terminal
                    asked.update(id(word) for word in node.args)
            name = _name(node)
            if name in ("sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__"):
                found += [] if id(node) in asked else [(name, STREAMS)]
            for what, allowed in found:
                if home not in allowed:
                    yield f"{home}:{getattr(node, 'lineno', 0)}: {what}"
