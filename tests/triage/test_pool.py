"""What comes from the processes that read cores is data, and looked at before it is used."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from whocall.base.errors import Error
from whocall.triage import pool, workers
from whocall.triage import work as working
from whocall.triage.run import gather
from whocall.triage.work import Settings, failure

SETTINGS = Settings(remember=False)


class _Mutiny:
    """What runs a command where it is unpickled."""

    def __init__(self, mark: str) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self._mark,)


def test_a_worker_that_was_won_over_runs_nothing_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its core has it answer with an object of its own making. Workers are copies here."""
    mark = tmp_path / "ran"
    core = tmp_path / "core"
    core.touch()

    def begin(memory: int) -> None:
        for module in (working, pool):
            module.work = lambda *_: _Mutiny(str(mark))  # type: ignore[attr-defined]

    monkeypatch.setattr(workers, "is_confined", lambda: True)
    monkeypatch.setattr(workers, "_begin", begin)
    with suppress(Error):  # the workers die, and say nothing of what they were at
        assert [row["reason"] for row in workers.Local(1, SETTINGS).results([str(core)])] != [None]
    assert not mark.exists()


def _good() -> dict[str, Any]:
    return failure("/x/core", "it is no core", SETTINGS)


def test_what_is_as_it_should_be_is_taken() -> None:
    found = _good()
    assert pool.checked(json.dumps(found).encode(), "/x/core", SETTINGS) == found


NONSENSE: dict[str, Any] = {
    "another core's": {"path": "/x/other"},
    "another engine's": {"engine": "0"},
    "a key too many": {"more": 1},
    "frames that are none": {"frames": "abc"},
    "frames of nothing": {"frames": [1, 2]},
    "a size in words": {"size": "large"},
    "sentences that are none": {"left_out": [1]},
}


@pytest.mark.parametrize("what", NONSENSE)
def test_what_makes_no_sense_is_a_row_that_says_so(what: str) -> None:
    said = json.dumps({**_good(), **NONSENSE[what]}).encode()
    assert pool.checked(said, "/x/core", SETTINGS)["reason"] == pool._NONSENSE


@pytest.mark.parametrize("said", [b"", b"\x80\x04.", b"[]", b"null", b"[" * 100_000, b"\xff"])
def test_what_is_no_json_is_one_too(said: bytes) -> None:
    assert pool.checked(said, "/x/core", SETTINGS)["reason"] == pool._NONSENSE


def test_what_cores_would_have_cost_is_told(tmp_path: Path) -> None:
    """Once, whatever core it was left out of; and it is no part of the result."""
    kept: list[dict[str, Any]] = []

    class Kept:
        def add(self, result: dict[str, Any]) -> None:
            kept.append(result)

    rows = [{**_good(), "left_out": ["Names are left out."]} for _ in range(3)]
    assert gather(rows, Kept()) == ["Names are left out."]  # type: ignore[arg-type]
    assert all("left_out" not in row for row in kept)
