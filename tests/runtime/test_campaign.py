"""Some of the campaign's crashes: complete reports, a core, and the same frames in both."""

from __future__ import annotations

from pathlib import Path

from runtime.campaign import run

COUNT = 20


def test_random_crashes(tmp_path: Path) -> None:
    outcome = run(COUNT, 0, tmp_path)
    assert set(outcome.kinds) <= {"the same frames", "the core knows more"}, outcome.lines()
    assert outcome.kinds["the same frames"] >= COUNT * 0.9, outcome.lines()
