"""The crashes that all tests of inputs look at."""

from __future__ import annotations

import pytest

from acceptance.inputs.crashes import Chains, Crash, chains, crash


@pytest.fixture(scope="session")
def plain() -> Crash:
    """Of a program for this machine."""
    return crash("inputs", "-O1 -g -fomit-frame-pointer")


@pytest.fixture(scope="session")
def true_chains(plain: Crash) -> Chains:
    """Those of the plain core."""
    found = chains(plain.core)
    names = [function for _, function in found[0]]
    assert names[:2] == ["innermost", "comparing"] and "sorting" in names and "main" in names
    assert "idle" in [function for _, function in found[1]]
    return found
