"""The crashes that most sessions and the command line's tests look at, as fixtures."""

from __future__ import annotations

import pytest
from programs import CHAIN, WORKERS, Crash, shared


@pytest.fixture(scope="session")
def chain() -> Crash:
    """main -> sorting -> qsort -> ... -> comparing -> innermost, a leaf that reads NULL."""
    return shared("chain", CHAIN)


@pytest.fixture(scope="session")
def workers() -> Crash:
    """Three threads that do the same, and one that aborts."""
    return shared("workers", WORKERS)
