"""What the gdb sessions work on, built once."""

from __future__ import annotations

import pytest
from programs import CHAIN, DEEP, WORKERS, Crash, build


@pytest.fixture(scope="session")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Crash:
    """main -> sorting -> qsort -> ... -> comparing -> innermost, a leaf that reads NULL."""
    return build(tmp_path_factory.mktemp("chain"), "chain", CHAIN)


@pytest.fixture(scope="session")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Crash:
    """Three threads that do the same, and one that aborts."""
    return build(tmp_path_factory.mktemp("workers"), "workers", WORKERS)


@pytest.fixture(scope="session")
def deep(tmp_path_factory: pytest.TempPathFactory) -> Crash:
    """A hundred thousand calls of one function, and abort()."""
    return build(tmp_path_factory.mktemp("deep"), "deep", DEEP)
