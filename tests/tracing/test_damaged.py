"""Damaged traces end in text or in a sentence: a short campaign, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_damaged_traces() -> None:
    place = Path(__file__).parent
    ran = subprocess.run(
        [sys.executable, str(place), "--count", "150", "--seed", "7"],
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    rows = (line.rsplit(maxsplit=1) for line in ran.stdout.splitlines())
    outcomes = {name.strip(): int(number) for name, number in rows}
    assert outcomes["told"] + outcomes["warned"] + outcomes["refused"] == 150
    assert min(outcomes["told"], outcomes["warned"], outcomes["refused"]) > 5
