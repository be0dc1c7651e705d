"""Lists of commands beside the table of commands: who adds one would have to find them all."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path

MOST = 2  # commands that one statement may name: another command of the two, say
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr, ast.Assert)


def _strings(nodes: Collection[ast.AST]) -> set[str]:
    return {
        part.value
        for node in nodes
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }


def _tests(chain: ast.If) -> Iterator[ast.AST]:
    """What is asked in `if` and all of its `elif`."""
    yield chain.test
    for other in chain.orelse:
        if isinstance(other, ast.If):
            yield from _tests(other)


def _statements(tree: ast.AST) -> Iterator[tuple[int, set[str]]]:
    """The strings of each statement, by its line."""
    for node in ast.walk(tree):
        if isinstance(node, _SIMPLE):
            yield node.lineno, _strings([node])
        elif isinstance(node, ast.If):
            yield node.lineno, _strings(list(_tests(node)))
        elif node.__class__.__name__ == "Match":
            yield node.lineno, _strings([case.pattern for case in node.cases])
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.lineno, _strings(node.decorator_list)


def _calls(tree: ast.AST) -> Iterator[tuple[int, set[str]]]:
    """What each function is called with first, wherever the file calls it."""
    found: dict[str, tuple[int, set[str]]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            _, strings = found.setdefault(ast.unparse(node.func), (node.lineno, set()))
            strings |= _strings([node.args[0]])
    yield from found.values()


def _of_python(path: Path) -> Iterator[tuple[int, set[str]]]:
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    yield from _statements(tree)
    yield from _calls(tree)


def _of_other_text(path: Path) -> Iterator[tuple[int, set[str]]]:
    """What stands in quotes between two semicolons."""
    line = 1
    for statement in path.read_text(encoding="utf-8").split(";"):
        yield line, set(re.findall(r'"([\w-]+)"', statement))
        line += statement.count("\n")


def second_lists(paths: Collection[Path], commands: Collection[str]) -> Iterator[str]:
    """A line for each statement, and each function that is called, with more than two commands."""
    for path in paths:
        statements = _of_python(path) if path.suffix == ".py" else _of_other_text(path)
        for line, strings in statements:
            named = sorted({each.removeprefix("whocall ") for each in strings} & set(commands))
            if len(named) > MOST:
                yield f"{path}:{line}: names {', '.join(named)}"
