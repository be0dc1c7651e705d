"""Arrows between rooms go only downwards; see CONTRIBUTING.md for the order."""

from __future__ import annotations

from pathlib import Path

import pytest
from arrows import circles, import_faults, include_circles, include_faults


def test_includes_follow_the_arrows(project_root: Path) -> None:
    assert list(include_faults(project_root / "native")) == []


def test_no_files_include_each_other_in_a_circle(project_root: Path) -> None:
    assert include_circles(project_root / "native") == []


def test_imports_follow_the_arrows(project_root: Path) -> None:
    assert list(import_faults(project_root / "gdbext")) == []


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize(
    ("place", "include", "allowed"),
    [
        ("process/x.cpp", '"object/y.h"', True),
        ("process/x.cpp", '"process/y.h"', True),
        ("process/x.cpp", '"unwind/rows/y.h"', False),
        ("symbols/x.cpp", '"symbols/table/y.h"', True),
        ("symbols/table/x.cpp", '"symbols/y.h"', False),
        ("symbols/table/x.cpp", '"symbols/starts/y.h"', False),
        ("symbols/jit/x.cpp", '"symbols/lists/y.h"', False),
        ("unwind/audit/x.cpp", '"unwind/analysis/y.h"', True),
        ("unwind/audit/x.cpp", '"unwind/walk/y.h"', False),
        ("unwind/code/x.cpp", '"unwind/analysis/y.h"', False),
        ("object/x.cpp", '"object/bfd/y.h"', False),
        ("unwind/elsewhere/x.cpp", '"base/y.h"', False),
        ("base/x.h", '"arch/y.h"', False),
        ("memory/x.h", '"arch/y.h"', False),
        ("arch/x.h", '"memory/y.h"', False),
        ("runtime/x.c", '"base/y.h"', False),
        ("python/x.cpp", '"runtime/y.h"', False),
        ("python/x.cpp", '"symfile/y.h"', True),
        ("elsewhere/x.cpp", "<vector>", False),
        ("base/x.cpp", '"absent/y.h"', False),
        ("python/x.cpp", "<pybind11/pybind11.h>", True),
        ("unwind/x.cpp", "<pybind11/pybind11.h>", False),
        ("object/x.cpp", "<Python.h>", False),
        ("object/bfd/x.cpp", "<bfd.h>", True),
        ("object/x.cpp", "<bfd.h>", False),
    ],
)
def test_an_include_is_judged(tmp_path: Path, place: str, include: str, allowed: bool) -> None:
    header = include.strip('"') if include.startswith('"') else "base/y.h"
    files = {place: f"#pragma once\n#  include {include}\n"}
    if not header.startswith("absent"):
        files.setdefault(header, "")
    assert (list(include_faults(write(tmp_path, files))) == []) is allowed


def test_a_circle_of_includes_is_found(tmp_path: Path) -> None:
    files = {
        "base/a.h": '#include "base/b.h"\n',
        "base/b.h": "",
        "base/b.cpp": '#include "base/b.h"\n#include "base/c.h"\n',
        "base/c.h": '#include "base/a.h"\n',
        "base/d.h": '#include "base/a.h"\n',
    }
    assert include_circles(write(tmp_path, files)) == [["base/a", "base/b", "base/c"]]


def test_circles_of_a_graph() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"d"}}) == []
    assert circles({"a": {"a"}}) == []
    assert circles({"a": {"b"}, "b": {"a", "c"}, "c": {"d"}, "d": {"c"}}) == [
        ["a", "b"],
        ["c", "d"],
    ]


@pytest.mark.parametrize(
    ("place", "statement", "allowed"),
    [
        ("whocall/gdb/x.py", "import gdb", True),
        ("whocall/gdb/x.py", "from whocall import render", True),
        ("whocall/x.py", "import gdb", False),
        ("whocall/x.py", "def f():\n    from gdb.types import has_field", False),
        ("whocall/x.py", "from . import gdb", False),
        ("whocall/deep/x.py", "from ..gdb import commands", False),
        ("whocall/x.py", "import whocall.gdb.commands", False),
        ("whocall/x.py", "from .gdbish import y", True),
        ("whocall.py", "from whocall.gdb import load", True),
    ],
)
def test_an_import_is_judged(tmp_path: Path, place: str, statement: str, allowed: bool) -> None:
    assert (list(import_faults(write(tmp_path, {place: statement + "\n"}))) == []) is allowed
