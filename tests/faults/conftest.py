"""A crash for every command."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "gdb"))
from shared_crashes import chain

from faults.commands import Place
from faults.inputs import built_archive, recorded

__all__ = ["chain"]


@pytest.fixture(scope="session")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("trace"))


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_archive(tmp_path_factory.mktemp("archive"))


def made_place(folder: Path) -> Place:
    """The same without pytest."""
    from programs import CHAIN, shared

    crash = shared("chain", CHAIN)
    parts = [folder / name for name in ("trace", "archive", "folder")]
    for part in parts:
        part.mkdir()
    return Place(crash.exe, crash.core, recorded(parts[0]), built_archive(parts[1]), parts[2])


@pytest.fixture
def place(chain: object, trace: Path, archive: Path, tmp_path: Path) -> Place:
    """What all commands work on, and a folder for what they write."""
    return Place(chain.exe, chain.core, trace, archive, tmp_path)  # type: ignore[attr-defined]
