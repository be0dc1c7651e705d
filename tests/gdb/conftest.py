"""What the gdb sessions work on, built once."""

from __future__ import annotations

import pytest
from programs import CHAIN, WORKERS, Crash, build


@pytest.fixture(scope="session")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Crash:
    """main -> sorting -> qsort -> ... -> comparing -> innermost, which reads NULL."""
    return build(tmp_path_factory.mktemp("chain"), "chain", CHAIN)


@pytest.fixture(scope="session")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Crash:
    """Three threads that do the same, and one that aborts."""
    return build(tmp_path_factory.mktemp("workers"), "workers", WORKERS)
