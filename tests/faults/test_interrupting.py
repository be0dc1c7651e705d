"""Ctrl-C at any moment is a status: no traceback, and nothing half is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.commands import Place, lines_of
from faults.interrupting import NOT_HERE, campaign, faults

MOMENTS = 44
EARLY = 0.005  # seconds: while the package is loaded
SEED = 7


def test_at_random_moments(place: Place, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("interrupted")
    assert list(campaign(place, folder, MOMENTS, SEED)) == []


def test_while_it_is_loaded(place: Place, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("interrupted")
    found = [
        fault
        for number, name in enumerate(sorted(lines_of(place).keys() - NOT_HERE))
        for fault in faults(place, name, 0.03 + EARLY * number, folder)
    ]
    assert found == []


def test_python_itself_begins_it_in_order(project_root: Path) -> None:
    """Each way to the command line goes by the one that looks after Ctrl-C."""
    package = project_root / "gdbext" / "whocall"
    for path in (
        project_root / "pyproject.toml",
        package / "__main__.py",
        package.parent / "whocall.py",
        project_root / "native" / "python" / "command.py.in",
    ):
        text = path.read_text(encoding="utf-8")
        assert "whocall.entry" in text
        assert "cli.main" not in text
