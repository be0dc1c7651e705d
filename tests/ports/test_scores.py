"""whocall on the crash corpus of each instruction set that it knows, beside three other tools.

One build of each program, in which each pair of choices occurs; `python3 -m ports` asks of all
builds. Of sets without a port nothing is asked here; `test_harness.py` looks at their cores all the
same.
"""

from __future__ import annotations

import pytest
from acceptance.helpers.scoreboard import Scoreboard

from ports import ROOT, voices
from ports.floors import REPAIRED, floor
from ports.scoring import rows
from ports.sets import SETS

WORST = 12
BUILDS = 1


@pytest.mark.parametrize("tables", [True, False], ids=["tables", "notables"])
@pytest.mark.parametrize("name", list(SETS))
def test_recall_and_precision(name: str, tables: bool, scoreboard: Scoreboard) -> None:
    """Of all threads' frames; and of gdb-multiarch's own after `whocall repair`."""
    if not voices.is_ported(SETS[name]):
        return
    title = f"Crash corpus of {name}, {'with' if tables else 'without'} unwind tables"
    board = scoreboard.table(title, "voice", "frames", "recall %", "precision %")
    found = dict(rows(name, tables, ROOT / "gdbext" / "whocall.py", BUILDS))
    for voice, one in found.items():
        total = one.total
        board.rows.append((voice, total.right + total.missing, total.recall, total.precision))
    ours, repaired = found["whocall"], found["gdb-multiarch after repair"]
    recall, precision = floor(name, tables)
    assert ours.total.recall >= recall, "\n".join(ours.said[:WORST])
    assert ours.total.precision >= precision, "\n".join(ours.said[:WORST])
    assert repaired.total.recall >= REPAIRED, "\n".join(repaired.said[:WORST])
