"""Cores in which nothing is as it was: something is told, or that it cannot be read, and soon."""

from __future__ import annotations

import random
from pathlib import Path

import jsonschema
import pytest
from guards import guarded

import whocall
from waits.programs import SCHEMA, compiled, core_of

CASES = ["five", "rwlock", "join ring", "robust"]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_damaged_cores(case: str, seed: int, place: Path, tmp_path: Path) -> None:
    """Bytes of the notes and of the program's data are others."""
    exe = compiled("locks.c", place / "locks", "gcc", "-O1", "-pthread")
    core, _ = core_of(exe, case, place / "cores" / case.replace(" ", "-"))
    whole = core.read_bytes()
    dice = random.Random(seed)
    for turn in range(4):
        damaged = bytearray(whole)
        end = min(len(damaged), 64 << 10) if turn % 2 else len(damaged)
        for _ in range(1 << dice.randrange(14)):
            damaged[dice.randrange(64, end)] = dice.choice((0, 1, 2, 0x7F, 0x80, 0xFF))
        path = tmp_path / "core"
        path.write_bytes(damaged)
        with guarded():
            try:
                with whocall.open_core(str(path), str(exe)) as image:
                    document = whocall.waits_data(image)
            except whocall.Error:
                continue
        jsonschema.validate(document, SCHEMA)


def test_a_ring_in_the_list_of_robust_mutexes_ends(place: Path, tmp_path: Path) -> None:
    """Whatever links say: every owner is one of the process, and nothing goes on for good."""
    exe = compiled("locks.c", place / "locks", "gcc", "-O1", "-pthread")
    core, truth = core_of(exe, "robust", place / "cores" / "robust")
    data = core.read_bytes()
    owned = {address for _, address, _ in truth.waits.values()}
    for address in owned:
        link = (address + 32).to_bytes(8, "little")
        assert link in data
        data = data.replace(link, (address + 48).to_bytes(8, "little"))
    path = tmp_path / "core"
    path.write_bytes(data)
    with guarded(), whocall.open_core(str(path), str(exe)) as image:
        document = whocall.waits_data(image)
    for thread in document["threads"]:
        assert thread["owner"] is None
    assert document["cycles"] == []
