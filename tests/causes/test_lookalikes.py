"""No wrong cause is told of programs that end in ways that look like another."""

from __future__ import annotations

from pathlib import Path

import pytest

from causes.lookalikes import EXPECTED, SOURCES
from causes.programs import core_of, happened


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_the_cause_is_the_true_one(name: str, place: Path) -> None:
    found = happened(core_of(SOURCES[name], place / "lookalikes" / name / name))
    kind, wanted, unproved = EXPECTED[name]
    assert found["facts"], found
    assert found["facts"][0]["kind"] == kind, found
    assert wanted in found["sentence"], found
    assert not any(unproved in fact["text"] for fact in found["facts"]), found
