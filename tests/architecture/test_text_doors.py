"""Text leaves by the doors that make names printable, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from text_doors import door_faults


def test_text_leaves_by_the_doors(project_root: Path) -> None:
    assert list(door_faults(project_root / "gdbext" / "whocall")) == []


PLANTED = (
    "print(frame.function)",
    "import sys\nsys.stdout.write(frame.function)",
    "import sys\nout = sys.stdout",
    "import sys, json\njson.dump({}, sys.stdout)",
    "import gdb\ngdb.write(f'{frame.function}\\n')",
    "import gdb\nraise gdb.GdbError(frame.module)",
    "self._window.write(frame.function)",
    "path.write_text(frame.function)",
    "with path.open('w', encoding='utf-8') as file:\n    file.write(frame.function)",
    "with open(path, 'a') as file:\n    file.write(frame.function)",
)


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_raw_print_is_found(planted: str, tmp_path: Path) -> None:
    (tmp_path / "report.py").write_text(planted)
    assert list(door_faults(tmp_path))


def test_what_is_no_text_is_let_through(tmp_path: Path) -> None:
    (tmp_path / "report.py").write_text(
        "import sys\nsys.stdout.isatty()\npath.open('wb').write(b'')\nopen(path).read()\n"
        "style_for(sys.stdout)\nwrite_text(path, 'page')\n"
    )
    assert list(door_faults(tmp_path)) == []
