"""What strangers made is read by the helper: in gdb's own process only where nobody else can."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

# Who reads, and what opens files to be read.
READERS = {
    *("open_core", "open_process", "open_file_image", "open_symbols", "open_names", "current"),
    *("open_inferior", "audit_file", "open_trace_file", "write_signatures", "unpack"),
    *("signatures_of", "require_readable"),
}
HERE = {
    "target/inferior.py": "live programs, and all where there is no helper",
    "target/answering.py": "the same",
    "repair/planning.py": "the same",
    "commands/stack_window.py": "the window, which draws as it reads",
}


def readers(gdb: Path) -> Iterator[str]:
    for path in sorted(gdb.rglob("*.py")):
        home = path.relative_to(gdb).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and home not in HERE:
                yield from (f"{home}: {each.name}" for each in node.names if each.name in READERS)
            name = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
            if name.startswith("native.open_") and home != "target/live.py":
                yield f"{home}: {name}"


def test_the_helper_reads(project_root: Path) -> None:
    assert list(readers(project_root / "gdbext" / "whocall" / "gdb")) == []


@pytest.mark.parametrize(
    "planted",
    [
        "from whocall.base.process_image import open_core",
        "def run(line):\n    from whocall.gdb.target.inferior import current",
        "image = native.open_file(path)",
    ],
)
def test_a_planted_reader_is_found(planted: str, tmp_path: Path) -> None:
    (tmp_path / "commands").mkdir()
    (tmp_path / "commands" / "x.py").write_text(planted)
    assert list(readers(tmp_path)) != []
