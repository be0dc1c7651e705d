"""Crashes for the command line: those that the sessions of tests/gdb work on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "gdb"))
from programs import CHAIN, WORKERS, Crash, shared


@pytest.fixture(scope="session")
def chain() -> Crash:
    """One thread, dead of a NULL pointer."""
    return shared("chain", CHAIN)


@pytest.fixture(scope="session")
def workers() -> Crash:
    """Three threads that do the same, and one that aborts."""
    return shared("workers", WORKERS)
