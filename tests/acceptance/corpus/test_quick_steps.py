"""Steps by what is known of their addresses give what the full walk gives."""

from __future__ import annotations

import pytest

import whocall
from acceptance.helpers.corpusruns import Corpora, Run
from acceptance.helpers.scoreboard import Scoreboard
from whocall import Backtrace
from whocall.base.process_image import Walk

LEAST_FRAMES = 39_000


def _said(trace: Backtrace) -> object:
    frames = [
        (each.pc, each.sp, each.cfa, each.trust, each.rests_on, each.evidence, each.interrupted)
        for each in trace.frames
    ]
    return frames, trace.stop


def _walks(run: Run) -> int:
    """Compares them; how many frames there were."""
    frames = 0
    for without in ((), ("cfi",), ("cfi", "analysis")):
        with whocall.open_core(str(run.built.core), str(run.built.exe)) as image:
            for index in range(len(image.threads)):
                learning = _said(image.backtrace(index, Walk(without, lines=False)))
                quick = _said(image.backtrace(index, Walk(without, lines=False)))
                full = image.backtrace(index, Walk(without, lines=False, explain=True))
                assert learning == _said(full), (run.built.case.name, without)
                assert quick == _said(full), (run.built.case.name, without)
                frames += len(full.frames)
    return frames


@pytest.mark.parametrize("tables", [True, False])
def test_quick_steps_say_the_same(tables: bool, corpora: Corpora, scoreboard: Scoreboard) -> None:
    runs = corpora.runs(tables)
    frames = sum(_walks(run) for run in runs)
    scoreboard.table(
        f"Quick steps beside the full walk{'' if tables else ', no tables in the files'}",
        "cases", "frames", "different",
    ).rows.append((len(runs), frames, 0))  # fmt: skip
    assert frames > LEAST_FRAMES
