"""The C files of a library call each other one way: no two of them, and no ring of them, both."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DEFINITION = re.compile(r"^(?!static\b)[A-Za-z_][\w *()]*?\b(\w+)\([^;{}]*\)\s*\{", re.MULTILINE)


def callees(sources: dict[str, str]) -> dict[str, set[str]]:
    """Of each file those whose functions it calls."""
    texts = {name: _COMMENT.sub("", text) for name, text in sources.items()}
    homes = {each[1]: name for name, text in texts.items() for each in _DEFINITION.finditer(text)}
    return {
        name: {
            home
            for function, home in homes.items()
            if home != name and re.search(rf"\b{function}\s*\(", text)
        }
        for name, text in texts.items()
    }


def test_the_files_of_the_trace_call_one_way(project_root: Path) -> None:
    folder = project_root / "native" / "runtime" / "trace"
    found = callees({path.name: path.read_text() for path in folder.glob("*.c")})
    assert sum(map(len, found.values())) >= 8, found
    TopologicalSorter(found).prepare()


def test_a_ring_is_found() -> None:
    planted = {
        "a.c": "static int own(void) { return 1; }\nint one(void) {\n return two();\n}\n",
        "b.c": "int two(void) { return three(); }\n",
        "c.c": "/* calls one() */\nMACRO long three(void) { return own(); }\n",
    }
    TopologicalSorter(callees(planted)).prepare()
    planted["c.c"] += "void four(void) { one(); }\n"
    with pytest.raises(CycleError):
        TopologicalSorter(callees(planted)).prepare()
