"""The small form of the campaign: six bugs in four builds, 24 cores."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from triage.catalog import BUILDS, Bug
from triage.crashes import Crashed, made_cores

PACKAGE = Path(__file__).resolve().parents[2] / "gdbext"
SIX = (
    Bug("ledger", 0),
    Bug("ledger", 2),
    Bug("netd", 0),
    Bug("netd", 1),
    Bug("netd", 4),
    Bug("archive", 0),
)
"""Two have one crashing function, `enqueue`; one is reached on two ways; two abort."""
FOUR = tuple(BUILDS[at] for at in (0, 3, 8, 9))

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def cores() -> list[Crashed]:
    return made_cores(SIX, FOUR, [1])


def command(*arguments: str | Path) -> list[str]:
    """The command line of `whocall triage`."""
    return [sys.executable, "-m", "whocall", "triage", *map(str, arguments)]


def environment(cache: Path) -> dict[str, str]:
    """Of a command that knows nothing yet."""
    return {**os.environ, "PYTHONPATH": str(PACKAGE), "XDG_CACHE_HOME": str(cache)}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs `whocall triage`, and fails unless it ends with `status`."""

    def runs(
        *arguments: str | Path, given: str = "", status: int = 0, **more: Any
    ) -> subprocess.CompletedProcess[str]:
        ran = subprocess.run(
            command(*arguments),
            input=given,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env=environment(tmp_path / "cache"),
            **more,
        )
        assert ran.returncode == status, ran.stderr
        return ran

    return runs


def names(cores: Sequence[Crashed]) -> str:
    """As `-` takes them."""
    return "".join(f"{crashed.core}\n" for crashed in cores)


def results_of(text: str) -> dict[str, dict[str, Any]]:
    """The rows of JSON by path."""
    return {row["path"]: row for row in json.loads(text)["results"]}
