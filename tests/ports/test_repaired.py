"""What gdb-multiarch cannot do by itself, done by `whocall repair`."""

from __future__ import annotations

import pytest

from ports import ROOT, voices
from ports.case import build_all, cases
from ports.sets import SETS

ENTRY = ROOT / "gdbext" / "whocall.py"


@pytest.mark.parametrize("tables", [True, False], ids=["tables", "notables"])
@pytest.mark.parametrize("program", ["signal_timer", "signal_nested", "signal_altstack"])
def test_signal_frames_with_vector_registers(program: str, tables: bool) -> None:
    """gdb 13 never comes back from frames of signals that hold registers which it does not know.

    qemu's processor for AArch64 has them, its cores do not tell of them.
    """
    wanted = [case for case in cases(SETS["aarch64"], tables) if case.program.name == program]
    assert wanted
    built = list(build_all(wanted))
    found = voices.ask_repaired(built, ENTRY)
    for case, chains in zip(built, found):
        ours = voices.ask_whocall(case)
        assert chains.keys() == ours.keys()
        for tid, chain in chains.items():
            assert [frame.pc for frame in chain] == [frame.pc for frame in ours[tid]]
