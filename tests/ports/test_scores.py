"""whocall on the crash corpus of each instruction set that it knows, beside three other tools.

Sets without a port are left to the tests of the harness (`test_harness.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from acceptance.helpers.scoreboard import Scoreboard
from conftest import ROOT

from ports import voices
from ports.case import BuiltCase, build_all, cases
from ports.floors import REPAIRED, floor
from ports.judge import Verdict, judge
from ports.sets import SETS
from whocall.core.errors import Error

PEERS_EVERY = 5
"""Other tools are asked about each fifth case only: all three take seconds a core."""
WORST = 12

Ask = Callable[[BuiltCase], voices.Chains]


@cache
def _built(name: str, tables: bool) -> tuple[BuiltCase, ...]:
    return tuple(build_all(cases(SETS[name], tables)))


PORTED = frozenset(name for name, one in SETS.items() if voices.is_ported(one))
"""Of the others the tests here say nothing yet."""


def _score(built: tuple[BuiltCase, ...], ask: Ask) -> tuple[Verdict, list[str]]:
    total, said = Verdict(), []
    for case in built:
        try:
            chains = ask(case)
        except Error as error:
            chains = {}
            said.append(f"{case.case.name}: {error}")
        for thread in case.truth:
            verdict = judge(chains.get(thread.tid, []), thread)
            total += verdict
            if verdict.complaints:
                said.append(f"{case.case.name} ({case.core}): {'; '.join(verdict.complaints[:3])}")
    return total, said


@pytest.mark.parametrize("tables", [True, False], ids=["tables", "notables"])
@pytest.mark.parametrize("name", list(SETS))
def test_recall_and_precision(name: str, tables: bool, scoreboard: Scoreboard) -> None:
    """Of all threads' frames."""
    if name not in PORTED:
        return
    built = _built(name, tables)
    total, said = _score(built, voices.ask_whocall)
    title = f"Crash corpus of {name}, {'with' if tables else 'without'} unwind tables"
    board = scoreboard.table(title, "voice", "frames", "recall %", "precision %")
    board.rows.append(("whocall", total.right + total.missing, total.recall, total.precision))
    for voice, ask in voices.VOICES.items():
        peer, _ = _score(built[::PEERS_EVERY], ask)
        board.rows.append((voice, peer.right + peer.missing, peer.recall, peer.precision))
    recall, precision = floor(name, tables)
    assert total.recall >= recall, "\n".join(said[:WORST])
    assert total.precision >= precision, "\n".join(said[:WORST])


@pytest.mark.parametrize("name", list(SETS))
def test_gdb_multiarchs_own_frames_after_repair(name: str) -> None:
    """`whocall repair`, then gdb's unwinder alone."""
    if name not in PORTED:
        return
    entry = ROOT / "gdbext" / "whocall.py"
    built = (*_built(name, True)[::PEERS_EVERY], *_built(name, False)[::PEERS_EVERY])
    total, said = _score(built, lambda case: voices.ask_repaired(case, entry))
    assert total.recall >= REPAIRED, "\n".join(said[:WORST])
