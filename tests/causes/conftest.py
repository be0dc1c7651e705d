"""Where programs and cores of these tests lie."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for programs and cores."""
    return tmp_path_factory.mktemp("causes")
