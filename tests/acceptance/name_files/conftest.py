"""The program whose lists are given."""

from __future__ import annotations

from pathlib import Path

import pytest

from acceptance.helpers import name_twins
from acceptance.name_files.given_lists import SOURCE


@pytest.fixture
def twin(tmp_path: Path) -> Path:
    """A small position-independent program with local functions."""
    return name_twins.build(tmp_path, source=SOURCE)
