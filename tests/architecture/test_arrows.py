"""Arrows between rooms go only downwards; see CONTRIBUTING.md for the order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from arrows import (
    PACKAGE_ORDER,
    circles,
    import_circles,
    import_faults,
    include_circles,
    include_faults,
    native_files,
)


def test_includes_follow_the_arrows(project_root: Path) -> None:
    assert list(include_faults(project_root / "native")) == []


def test_machines_have_their_numbers_in_one_place(project_root: Path) -> None:
    """EM_* stands where instruction sets are; whoever asks for one has a fact of it to ask for.

    What writes ELF files of Windows' DLLs has two numbers to write.
    """
    native = project_root / "native"
    asking = {
        path.relative_to(native).as_posix()
        for path in native_files(native)
        if re.search(r"\bEM_[A-Z]", re.sub(r"//.*", "", path.read_text(encoding="utf-8")))
    }
    assert {name for name in asking if not name.startswith("arch/")} == {"object/pe_elf_writer.cpp"}


def test_no_files_include_each_other_in_a_circle(project_root: Path) -> None:
    assert include_circles(project_root / "native") == []


def test_imports_follow_the_arrows(project_root: Path) -> None:
    assert list(import_faults(project_root / "gdbext")) == []


def test_no_modules_import_each_other_in_a_circle(project_root: Path) -> None:
    assert import_circles(project_root / "gdbext") == []


def test_every_room_of_the_package_is_there(project_root: Path) -> None:
    package = project_root / "gdbext" / "whocall"
    assert [room for room in PACKAGE_ORDER if not (package / room / "__init__.py").is_file()] == []


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
        ("process/x.cpp", '"process/core/y.h"', False),
        ("process/x.cpp", '"files/y.h"', True),
        ("files/x.cpp", '"process/y.h"', False),
        ("process/modules/x.cpp", '"process/core/y.h"', False),
        ("process/live/x.cpp", '"process/core/y.h"', True),
        ("process/live/x.cpp", '"process/minidump/y.h"', False),
        ("process/minidump/x.cpp", '"process/input/y.h"', True),
        ("process/modules/x.cpp", '"process/jit/y.h"', False),
        ("symbols/x.cpp", '"symbols/table/y.h"', True),
        ("symbols/table/x.cpp", '"symbols/y.h"', False),
        ("symbols/table/x.cpp", '"symbols/discovery/y.h"', False),
        ("symbols/jit/x.cpp", '"symbols/external/y.h"', False),
        ("unwind/audit/x.cpp", '"unwind/analysis/y.h"', True),
        ("unwind/audit/x.cpp", '"unwind/walk/y.h"', False),
        ("unwind/audit/x.cpp", '"unwind/judge/y.h"', False),
        ("unwind/walk/x.cpp", '"unwind/strategies/y.h"', True),
        ("unwind/judge/x.cpp", '"unwind/y.h"', True),
        ("unwind/x.cpp", '"unwind/judge/y.h"', False),
        ("unwind/audit/x.cpp", '"unwind/y.h"', False),
        ("unwind/judge/x.cpp", '"unwind/search/y.h"', False),
        ("unwind/code/x.cpp", '"unwind/analysis/y.h"', False),
        ("object/x.cpp", '"object/bfd/y.h"', False),
        ("unwind/elsewhere/x.cpp", '"base/y.h"', False),
        ("base/x.h", '"arch/y.h"', False),
        ("memory/x.h", '"arch/y.h"', False),
        ("arch/x.h", '"memory/y.h"', False),
        ("arch/arm/x.cpp", '"arch/y.h"', True),
        ("arch/arm/x.cpp", '"arch/mips/y.h"', False),
        ("arch/x.cpp", '"arch/arm/y.h"', False),
        ("arch/architectures.cpp", '"arch/arm/y.h"', True),
        ("runtime/x.h", '"arch/arm/frame_facts.h"', True),
        ("runtime/x.h", '"arch/arm/y.h"', False),
        ("arch/arm/frame_facts.h", '"arch/y.h"', False),
        ("unwind/walk/x.cpp", '"arch/arm/y.h"', False),
        ("object/x.h", '"packing/y.h"', True),
        ("packing/x.h", '"memory/y.h"', False),
        ("packing/x.h", '"object/y.h"', False),
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
        ("object/x.cpp", '"object/dw/y.h"', False),
        ("object/dw/x.cpp", '"object/bfd/y.h"', False),
        ("object/dw/x.cpp", "<elfutils/libdwfl.h>", True),
        ("object/bfd/x.cpp", "<elfutils/libdw.h>", False),
        ("object/x.cpp", "<dwarf.h>", False),
        ("process/x.cpp", "<elfutils/debuginfod.h>", True),
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
        ("whocall/gdb/host/x.py", "import gdb", True),
        ("whocall/gdb/x.py", "from gdb.unwinder import Unwinder", True),
        ("whocall/base/x.py", "import gdb", False),
        ("whocall/base/x.py", "def f():\n    from gdb.types import has_field", False),
        ("whocall/x.py", "from gdbish import y", True),
        ("whocall/base/x.py", "from whocall.base import y", True),
        ("whocall/base/x.py", "import whocall._native as native", True),
        ("whocall/base/x.py", "from whocall import _native", False),
        ("whocall/base/x.py", "def f():\n    from whocall.report.form.y import z", False),
        ("whocall/report/form/x.py", "from whocall.base.y import z", True),
        ("whocall/report/form/x.py", "if TYPE_CHECKING:\n    import whocall.repair.y", False),
        ("whocall/report/tables/x.py", "from whocall.report.form import y", True),
        ("whocall/report/tables/x.py", "from whocall.report.stack import y", False),
        ("whocall/repair/x.py", "from whocall.report.tables.y import z", True),
        ("whocall/repair/x.py", "from ..shared_front_end import y", False),
        ("whocall/shared_front_end/x.py", "from whocall.cli.y import z", False),
        ("whocall/cli/x.py", "from whocall.shared_front_end.y import z", True),
        ("whocall/cli/x.py", "from whocall.gdb.target.y import z", False),
        ("whocall/x.py", "from whocall.cli.y import z", True),
        ("whocall/x.py", "from . import gdb", False),
        ("whocall/gdb/host/x.py", "from whocall.repair.y import z", True),
        ("whocall/gdb/host/x.py", "from whocall.gdb.target import y", False),
        ("whocall/gdb/host/x.py", "from whocall.cli import y", False),
        ("whocall/gdb/host/x.py", "import whocall", False),
        ("whocall/gdb/repair/x.py", "from whocall.gdb.target import y", True),
        ("whocall/gdb/repair/x.py", "from whocall.gdb.commands import y", False),
        ("whocall/gdb/commands/x.py", "from whocall.gdb.repair.y import z", True),
        ("whocall/gdb/commands/x.py", "from whocall import gdb", False),
        ("whocall/gdb/x.py", "from whocall.gdb.commands import y", True),
        ("whocall/elsewhere/x.py", "import os", False),
        ("whocall.py", "from whocall.gdb import y", True),
        ("beside.py", "import os", False),
    ],
)
def test_an_import_is_judged(tmp_path: Path, place: str, statement: str, allowed: bool) -> None:
    files = {
        f"whocall/{room}/{name}.py": "" for room in PACKAGE_ORDER for name in ("__init__", "y")
    }
    root = write(tmp_path, {**files, place: statement + "\n"})
    assert (list(import_faults(root)) == []) is allowed


@pytest.mark.parametrize(
    "statement",
    [
        "from whocall.base import a",
        "from . import a",
        "import whocall.base.a",
        "def f():\n    from .a import y",
        "if TYPE_CHECKING:\n    from whocall.base.a import y",
    ],
)
def test_a_circle_of_imports_is_found(tmp_path: Path, statement: str) -> None:
    files = {
        "whocall/__init__.py": "",
        "whocall/base/__init__.py": "",
        "whocall/base/a.py": "from whocall.base.b import y\n",
        "whocall/base/b.py": "import whocall.base.c\n",
        "whocall/base/c.py": statement + "\n",
        "whocall/base/d.py": "from whocall.base import a\n",
    }
    circle = ["whocall.base.a", "whocall.base.b", "whocall.base.c"]
    assert import_circles(write(tmp_path, files)) == [circle]
    assert import_circles(write(tmp_path, {"whocall/base/b.py": ""})) == []


def test_the_entry_file_does_not_hide_the_package_of_its_name(tmp_path: Path) -> None:
    files = {
        "whocall.py": "",
        "whocall/__init__.py": "from whocall.a import y\n",
        "whocall/a.py": "import whocall\n",
    }
    assert import_circles(write(tmp_path, files)) == [["whocall", "whocall.a"]]


def test_a_package_and_its_module_make_a_circle(tmp_path: Path) -> None:
    files = {
        "whocall/base/__init__.py": "from whocall.base.a import y\n",
        "whocall/base/a.py": "from whocall.base import b\n",
        "whocall/base/b.py": "",
    }
    assert import_circles(write(tmp_path, files)) == [["whocall.base", "whocall.base.a"]]
