"""whocall on stock programs of other instruction sets, beside gdb-multiarch and eu-stack.

The truth is what a plugin of qemu's saw of calls and returns. Where the programs have unwind tables
(arm64), whocall is asked with the tables hidden too.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

import pytest
from acceptance.helpers.scoreboard import Scoreboard
from ports import ROOT, voices
from ports.judge import Frame, Verdict

import whocall
from foreign_stock.crash import PROGRAMS, SETS, ForeignCrash, crash_of
from whocall.base.file_search import Search
from whocall.base.process_image import Walk

RECALL, PRECISION = 100.0, 100.0
"""Per cent of all frames of a set."""
REPAIRED = "gdb-multiarch after repair"


def _judge(chain: Sequence[Frame], truth: Sequence[int]) -> Verdict:
    """A chain from its first return address on; what a search found is no claim."""
    said = [frame.pc & ~1 for frame in chain[1:]]
    if chain and truth and chain[0].pc & ~1 == truth[0]:
        truth = truth[1:]  # a call that has just come back
    blocks = SequenceMatcher(None, said, truth, autojunk=False).get_matching_blocks()
    matched = {at for block in blocks for at in range(block.a, block.a + block.size)}
    false = [i for i, frame in enumerate(chain[1:]) if frame.sure and i not in matched]
    return Verdict(len(matched), len(truth) - len(matched), len(false))


def _without_tables(crash: ForeignCrash) -> voices.Chains:
    walk = Walk(past_main=True, lines=False, demangle=False, without=("cfi",))
    search = Search(sysroot=crash.sysroot)
    with whocall.open_core(str(crash.core), str(crash.exe), search=search) as image:
        return {
            trace.lwp: [Frame(frame.pc, frame.trust != "scan") for frame in trace.frames]
            for trace in image.report(walk=walk).threads
        }


VOICES = {
    "whocall": voices.ask_whocall,
    "whocall without tables": _without_tables,
    "gdb-multiarch": voices.ask_gdb,
    "eu-stack": voices.ask_eu_stack,
}


@pytest.mark.parametrize("name", list(SETS))
def test_every_frame_of_stock_programs(name: str, scoreboard: Scoreboard) -> None:
    """Eight programs, each deep in a recursion of its own."""
    title = f"Stock programs of {name}"
    board = scoreboard.table(title, "voice", "frames", "recall %", "precision %")
    totals: dict[str, Verdict] = {}
    said: list[str] = []
    crashes = {program: crash_of(name, program) for program in PROGRAMS}
    answers = {voice: [ask(crash) for crash in crashes.values()] for voice, ask in VOICES.items()}
    entry = ROOT / "gdbext" / "whocall.py"
    answers[REPAIRED] = [voices.ask_repaired([crash], entry)[0] for crash in crashes.values()]
    for voice, all_chains in answers.items():
        total = totals[voice] = Verdict()
        for (program, crash), chains in zip(crashes.items(), all_chains):
            (chain,) = chains.values() or ([],)
            one = _judge(chain, crash.returns)
            total += one
            if one.missing or one.false:
                said.append(f"{voice}, {program}: lacks {one.missing}, has {one.false} false")
    for voice, total in totals.items():
        board.rows.append((voice, total.right + total.missing, total.recall, total.precision))
    for voice in ("whocall", "whocall without tables"):
        assert totals[voice].recall >= RECALL, "\n".join(said)
        assert totals[voice].precision >= PRECISION, "\n".join(said)
    assert totals[REPAIRED].recall >= RECALL, "\n".join(said)
