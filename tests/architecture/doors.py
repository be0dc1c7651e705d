"""Who gives gdb commands, and who starts programs: one module each, and what they are handed.

Names of files come from strangers. gdb runs each line of a string as a command, and programs take
what begins with "-" for an option; so strings become commands in two modules alone, out of words
that stand in the source and of values that say what they are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

CONSOLE = "whocall/gdb/host/console.py"
PROGRAMS = "whocall/base/programs.py"
ASIDE = "whocall/base/forked.py"  # copies of our own process
# Python's own workers, which are handed pickled values and no command line of ours.
WORKERS = ("whocall/triage/workers.py", "whocall/triage/pool.py")

# What gdb does with a string may be anything.
_OF_GDB = {
    *("execute", "execute_mi", "parse_and_eval", "decode_line", "set_parameter", "rbreak"),
    *("Breakpoint", "FinishBreakpoint", "set_convenience_variable"),
}
_LOOKUPS = ("lookup_",)  # of names, which gdb parses: literals only
_STARTERS = {"subprocess", "pty", "asyncio", "multiprocessing", "concurrent", "commands", "runpy"}
_OF_OS = ("exec", "spawn", "posix_spawn", "system", "popen", "fork", "startfile")

# What must stand in the source where it is called: the function, and how many of its arguments;
# -1 is all of them.
_LITERAL = {
    **dict.fromkeys(("console.run", "console.said", "gdb_lines.line", "gdb_lines.folders"), 1),
    **dict.fromkeys(("programs.option", "programs.gdb_option", "gdb_lines.python_call"), 1),
    "programs.words": -1,
}
# Classes that say that a string was looked at, and who may say so.
_CHECKED = {
    "AcceptedPath": ("whocall/base/safe_paths.py", "whocall/base/gdb_lines.py"),
    **dict.fromkeys(("GdbLine", "PlainName", "Pattern"), ("whocall/base/gdb_lines.py",)),
    "Argument": (PROGRAMS,),
}
_USERS_OWN = {
    "users_own": ("whocall/cli/commands/gdb.py", "whocall/cli/commands/receive.py"),
    "users_value": ("whocall/gdb/commands/symbol.py",),
}


def _dotted(node: ast.expr) -> str:
    """ "a.b.c" of such an expression, else ""."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = _dotted(node.value)
        return f"{head}.{node.attr}" if head else ""
    return ""


def _is_literal(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


class _Reader(ast.NodeVisitor):
    def __init__(self, name: str) -> None:
        self.name = name
        self.faults: list[str] = []
        self._names: dict[str, str] = {}  # what modules are called here

    def _fault(self, node: ast.AST, text: str) -> None:
        self.faults.append(f"{self.name}:{getattr(node, 'lineno', 0)}: {text}")

    def _real(self, node: ast.expr) -> str:
        head, dot, rest = _dotted(node).partition(".")
        return self._names.get(head, head) + dot + rest

    def _import(self, node: ast.AST, module: str) -> None:
        top = module.partition(".")[0]
        if top in _STARTERS and self.name not in (PROGRAMS, *WORKERS):
            self._fault(node, f"only {PROGRAMS} starts programs, so it alone imports {top}")

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._import(node, alias.name)
            if alias.asname:
                self._names[alias.asname] = alias.name

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self._import(node, node.module or "")
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            if node.module in ("gdb", "os") and self._is_way_in(whole):
                self._fault(node, f"{whole} outside its door")
            # Modules of ours go by their last name, and what is out of them by theirs.
            module = (node.module or "").rpartition(".")[2]
            ours = module in ("console", "gdb_lines", "programs")
            self._names[alias.asname or alias.name] = (
                f"{module}.{alias.name}" if ours else alias.name
            )

    def _is_way_in(self, name: str) -> bool:
        module, _, function = name.partition(".")
        if module == "gdb":
            return function in _OF_GDB and self.name != CONSOLE
        if module == "os" and function == "fork":
            return self.name != ASIDE
        return module == "os" and function.startswith(_OF_OS) and self.name != PROGRAMS

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Also where it is not called, but kept for later."""
        name = self._real(node)
        if self._is_way_in(name):
            self._fault(node, f"{name} outside its door")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = self._real(node.func)
        last = name.rpartition(".")[2]
        looks_up = name.startswith("gdb.") and last.startswith(_LOOKUPS)
        if looks_up and not all(map(_is_literal, node.args)):
            self._fault(node, f"{name} of what is no literal")
        if name == "getattr" and self._real(node.args[0]) in ("gdb", "os"):
            if not _is_literal(node.args[1]):
                self._fault(node, f"getattr of {self._real(node.args[0])} by a name that is none")
            elif self._is_way_in(f"{self._real(node.args[0])}.{node.args[1].value}"):  # type: ignore[attr-defined]
                self._fault(node, "a way in by getattr")
        if any(keyword.arg == "shell" for keyword in node.keywords):
            self._fault(node, "a shell")
        for known, places in {**_CHECKED, **_USERS_OWN}.items():
            if last == known and self.name not in places:
                self._fault(node, f"{known}() outside {' and '.join(places)}")
        self._literals(node, name)
        self.generic_visit(node)

    def _literals(self, node: ast.Call, name: str) -> None:
        count = _LITERAL.get(name, 0)
        if not count or self.name in (CONSOLE, PROGRAMS):
            return
        wanted = node.args if count < 0 else node.args[:count]
        if (not wanted and count > 0) or not all(map(self._is_constant, wanted)):
            self._fault(node, f"{name}() of what does not stand in the source")

    def _is_constant(self, node: ast.expr) -> bool:
        """A literal, or flag(...), which takes names of letters only."""
        return _is_literal(node) or (
            isinstance(node, ast.Call) and self._real(node.func) == "programs.flag"
        )


def door_faults(gdbext: Path) -> Iterator[str]:
    """A line for each way past the doors in the Python below `gdbext`."""
    for path in sorted(gdbext.rglob("*.py")):
        name = path.relative_to(gdbext).as_posix()
        reader = _Reader(name)
        reader.visit(ast.parse(path.read_text(encoding="utf-8"), str(path)))
        yield from reader.faults
