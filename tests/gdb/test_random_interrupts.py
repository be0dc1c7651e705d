"""Ctrl-C at random moments leaves gdb as it was; 500 of them: random_interrupts.py."""

from __future__ import annotations

from programs import Crash
from random_interrupts import faults

MOMENTS = 26
SEED = 3


def test_gdb_is_as_before(workers: Crash) -> None:
    assert list(faults(workers, MOMENTS, SEED)) == []
