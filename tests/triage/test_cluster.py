"""The same on a Dask cluster of three workers as on this machine's processors."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from triage.conftest import Run, environment, names, results_of
from triage.crashes import Crashed

_CLUSTER = """
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    """The address of a cluster with workers of its own."""
    program = tmp_path / "cluster.py"
    program.write_text(_CLUSTER)
    process = subprocess.Popen(
        [sys.executable, program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**environment(tmp_path / "cache-of-workers")},
    )
    assert process.stdin is not None and process.stdout is not None
    yield process.stdout.readline().strip()
    process.stdin.close()
    process.wait(timeout=60)


def told(text: str) -> dict[str, tuple[object, ...]]:
    """What does not hang on who did it and how long that took."""
    columns = ("bucket", "signature", "reason", "kind", "build_id", "host", "time")
    return {
        path: tuple(row[column] for column in columns) for path, row in results_of(text).items()
    }


def test_three_workers_find_the_same(
    cores: list[Crashed], run: Run, scheduler: str, tmp_path: Path
) -> None:
    damaged = tmp_path / "damaged.core"
    damaged.write_bytes(cores[0].core.read_bytes()[:1000])
    given = f"{damaged}\n{names(cores)}"
    far = run("-", "--format", "json", "--scheduler", scheduler, given=given)
    near = run("-", "--format", "json", given=given)
    assert told(far.stdout) == told(near.stdout)
    assert len(told(near.stdout)) == len(cores) + 1


def test_no_scheduler_is_an_error(run: Run) -> None:
    said = run("/bin", "-", "--scheduler", "tcp://127.0.0.1:9", status=1, given="/etc/passwd\n")
    assert "no Dask scheduler answers there" in said.stderr
