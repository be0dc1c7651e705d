"""What is broken: a crash, and its core's copy."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from acceptance.helpers.broken_files import Crash, crash


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Crash:
    """A crashed program; nobody changes its files."""
    return crash(tmp_path_factory.mktemp("crash"))


@pytest.fixture
def copy(made: Crash, tmp_path: Path) -> Path:
    """The core beside which everything may be broken; the program's file stays in place."""
    return Path(shutil.copy(made.core, tmp_path / "copy.core"))
