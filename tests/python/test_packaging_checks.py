"""What the checks of wheels and of Debian's package read of a backtrace is what whocall prints."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest


@pytest.fixture
def backtrace(project_root: Path) -> str:
    """As whocall prints it, of a program called orders."""
    text = (project_root / "tests/golden/texts/bt.file.txt").read_text()
    return re.sub(r"\bshop\b(?!::)", "orders", text).replace("total_of", "total_of?")


def test_of_wheels(project_root: Path, backtrace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(project_root / "scripts"))
    loader = SourceFileLoader("check_of_wheels", str(project_root / "scripts/wheels"))
    spec = spec_from_loader(loader.name, loader)
    assert spec
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, loader.name, module)
    loader.exec_module(module)
    assert module.frames_in(backtrace, "orders")[1:] == ["total_of?", "main"]


def test_of_debian(project_root: Path, backtrace: str, tmp_path: Path) -> None:
    text = (project_root / "debian/tests/crash").read_text()
    program = re.search(r"^ *sed -n '(.*)' \"\$1\"", text, re.MULTILINE)
    assert program
    (tmp_path / "said").write_text(backtrace)
    said = subprocess.run(
        ["sed", "-n", program[1], str(tmp_path / "said")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.split("\n")[1:3] == ["total_of?", "main"]
