"""What the analysis of instructions finds when the unwind tables are hidden.

Two oracles that need no symbols: the walk that uses the tables, and the tables themselves. Where
functions begin is still known from the tables here; the crash corpus without tables is the harder
case.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import chains
import pytest
from oracles.tools import run
from scoreboard import Scoreboard
from stock import stock_programs
from stockcores import StockCores

import whocall
from whocall.engine import native

NAMES = [program.name for program in stock_programs()]

LEAST_FOUND = 0.995
"""Of the frames that the walk with tables finds, over all stock programs."""

MOST_FALSE = 0.005
"""Of the frames that the walk without tables prints."""

LEAST_AGREEING = {
    "/usr/bin/bash": (0.999, 0.99),
    "/usr/bin/git": (0.999, 0.99),
    "/usr/bin/perl": (0.999, 0.99),
    sys.executable: (0.997, 0.99),
    "libc.so.6": (0.999, 0.99),
    "libstdc++.so.6": (0.995, 0.985),
}
"""Shares of calls and of instructions at which the CFA agrees with the table."""


def test_stock_programs_without_their_tables(
    stock_cores: StockCores, scoreboard: Scoreboard
) -> None:
    rows = scoreboard.table(
        "Stock programs, unwind tables hidden", "program", "frames", "missing", "false"
    ).rows
    total: Counter[str] = Counter()
    for name in NAMES:
        stock = stock_cores.core(name)
        missing = false = frames = printed = 0
        with whocall.open_core(str(stock.core), str(stock.exe)) as image:
            hidden = whocall.Walk(without=("cfi",))
            for index in range(len(image.threads)):
                truth = chains.pcs(image.backtrace(index))
                found = chains.pcs(image.backtrace(index, hidden))
                differs = chains.difference(found, truth)
                missing += len(differs.missing)
                false += len(differs.false)
                frames += len(truth)
                printed += len(found)
        rows.append((name, frames, missing, false))
        total.update(missing=missing, false=false, frames=frames, printed=printed)
    assert 1 - total["missing"] / total["frames"] >= LEAST_FOUND
    assert total["false"] / total["printed"] <= MOST_FALSE


@pytest.mark.parametrize("file", LEAST_AGREEING)
def test_analysis_agrees_with_the_tables(file: str, scoreboard: Scoreboard) -> None:
    """At every instruction that a table covers, the frame is known as the table knows it."""
    path = file if file.startswith("/") else run(["gcc", f"-print-file-name={file}"]).strip()
    audit = native.audit(str(Path(path).resolve()), difference_limit=0)
    calls = audit.calls.cfa / audit.calls.places
    instructions = audit.instructions.cfa / audit.instructions.places
    scoreboard.table(
        "Analysis against unwind tables", "file", "calls", "calls %", "instructions", "instr. %"
    ).rows.append(
        (
            Path(path).name,
            audit.calls.places,
            100 * calls,
            audit.instructions.places,
            100 * instructions,
        )
    )
    least_calls, least_instructions = LEAST_AGREEING[file]
    assert calls >= least_calls
    assert instructions >= least_instructions
