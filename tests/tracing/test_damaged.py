"""Damaged traces end in text or in a sentence: a short campaign, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from whocall.tracing import source


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


def test_lines_of_mappings() -> None:
    """Those that no kernel writes are passed over; a file's name may hold anything."""
    good = "00001000-00002000 r-xp 00000000 08:01 12 /tmp/a\x0b b"
    wrong = (
        good.replace("r-xp", "\udc90-xp"),
        good.replace("00000000", "1" * 17),
        good.replace("00000000", "-1"),
        good.replace("00002000", "1" * 20),
        good.replace("00001000", "0x1000"),
        good.replace("00002000", "00001000"),
        "",
    )
    text = "\n".join((*wrong, good, *wrong))
    assert list(source._mappings(text)) == [(0x1000, 0x2000, "r-x", 0, "/tmp/a\x0b b")]
