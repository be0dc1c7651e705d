"""Stock programs of the distribution, in cores and alive: every thread's chain is eu-stack's.

These programs have unwind tables throughout, so eu-stack, which shares no code with whocall, finds
every frame. Should it ever err (hand-written assembler has wrong tables here and there), gdb has to
bear whocall out frame by frame, and the program has to be named below with the reason.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from oracles import eu_stack
from stock import stock_programs

import whocall
from acceptance.helpers import chains
from acceptance.helpers.front_ends import WHOCALL, Document, json_in_gdb, printed
from acceptance.helpers.scoreboard import Scoreboard
from acceptance.helpers.stockcores import StockCores

NAMES = [program.name for program in stock_programs()]

ALIVE = ("python3-threads", "perl", "openssl-pkey")
"""Blocked for ever, so that two tools that stop them one after the other see the same stacks."""

LEAST_PROGRAMS = 3
"""python3 and perl run the tests and the build themselves; fewer programs prove too little."""


def _heads(scoreboard: Scoreboard, title: str) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = scoreboard.table(  # type: ignore[assignment]
        title, "program", "threads", "frames", "missing", "false"
    ).rows
    return rows


def _judge(
    name: str,
    ours: dict[int, whocall.Backtrace],
    theirs: dict[int, list[int]],
    rows: list[tuple[object, ...]],
) -> list[str]:
    """Adds a line to the table and returns the sentences on threads that differ."""
    complaints = [
        f"{name}: thread {tid} is not in both" for tid in sorted(ours.keys() ^ theirs.keys())
    ]
    missing = false = 0
    for tid in sorted(ours.keys() & theirs.keys()):
        found = chains.difference(chains.pcs(ours[tid]), theirs[tid])
        missing, false = missing + len(found.missing), false + len(found.false)
        if found:
            complaints.append(f"{name}, thread {tid}: {found}\n{chains.listing(ours[tid])}")
        elif ours[tid].stop.reason != "end-of-stack":
            complaints.append(f"{name}, thread {tid}: all frames, yet: {ours[tid].stop}")
    rows.append((name, len(theirs), sum(map(len, theirs.values())), missing, false))
    return complaints


def test_there_are_stock_programs() -> None:
    assert len(NAMES) >= LEAST_PROGRAMS, f"only {NAMES}: install python3, perl, git, openssl"


@pytest.mark.parametrize("name", NAMES)
def test_every_thread_of_a_core(name: str, stock_cores: StockCores, scoreboard: Scoreboard) -> None:
    stock = stock_cores.core(name)
    program = stock_cores.program(name)
    said = eu_stack.of_core(stock.core, stock.exe)
    assert said.complete, "eu-stack itself gave up: it is no witness"
    theirs = said.pcs()
    assert len(theirs) == program.threads
    assert max(map(len, theirs.values())) >= program.frames
    ours = chains.of_core(stock.core, stock.exe)
    complaints = _judge(name, ours, theirs, _heads(scoreboard, "Stock programs, cores: eu-stack"))
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize("name", [name for name in ALIVE if name in NAMES])
def test_every_thread_of_a_live_process(
    name: str, stock_cores: StockCores, scoreboard: Scoreboard, tmp_path: Path
) -> None:
    with stock_cores.program(name).running(tmp_path) as pid:
        before = eu_stack.of_process(pid)
        ours = chains.of_process(pid)
        after = eu_stack.of_process(pid)
    assert before.complete
    assert before.pcs() == after.pcs(), "the process moved: it is no ground for a comparison"
    rows = _heads(scoreboard, "Stock programs, alive: eu-stack -p")
    complaints = _judge(name, ours, before.pcs(), rows)
    assert not complaints, "\n".join(complaints)


def _without_numbers(document: Document) -> list[dict[str, object]]:
    """The threads of a JSON document by LWP.

    gdb numbers threads in its own order and keeps no thread names of cores that have only one.
    """
    threads = [
        {key: value for key, value in thread.items() if key not in ("number", "name")}
        for thread in document["threads"]
    ]
    return sorted(threads, key=lambda thread: str(thread["lwp"]))


@pytest.mark.parametrize("name", [name for name in ("python3-threads", "perl") if name in NAMES])
def test_gdb_and_the_command_line_say_the_same(name: str, stock_cores: StockCores) -> None:
    stock = stock_cores.core(name)
    line = [sys.executable, str(WHOCALL), "bt", str(stock.core), str(stock.exe)]
    outside = json.loads(printed([*line, "--all", "--json", "--past-main"]))
    inside = _without_numbers(
        json_in_gdb("whocall bt -all -json -past-main", stock.core, stock.exe)
    )
    assert inside == _without_numbers(outside)
    assert len(inside) == stock_cores.program(name).threads
