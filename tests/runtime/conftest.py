"""What tests of a receiver have in common."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.lab import build
from runtime.receivers import Running, receiver


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    with receiver(tmp_path, "--json") as made:
        yield made


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("cases"), "cases.c", "-O1")
