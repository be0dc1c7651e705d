"""eu-stack and gdb, both led by unwind tables, find the same frames in every stock program.

That makes either of them a witness for these programs; where they differed, neither would be one.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from stock import StockProgram, kept_many_threads_core, stock_programs

from oracles import bt_text, eu_stack, gdb_bt


@pytest.mark.parametrize(
    "program", [pytest.param(program, id=program.name) for program in stock_programs()]
)
def test_same_frames(program: StockProgram) -> None:
    dumped = program.kept()
    by_eu_stack = eu_stack.of_core(dumped.core, dumped.exe)
    by_gdb = gdb_bt.of_core(dumped.core, dumped.exe)
    assert by_eu_stack.complete
    assert by_eu_stack.pcs() == {tid: thread.pcs() for tid, thread in by_gdb.items()}
    assert len(by_gdb) == program.threads
    assert max(len(thread.pcs()) for thread in by_gdb.values()) >= program.frames
    trampolines = {
        tid: [frame.pc for frame in thread.frames if frame.kind == "sigtramp"]
        for tid, thread in by_gdb.items()
    }
    assert trampolines == {
        tid: [frame.pc for frame in frames if frame.trampoline]
        for tid, frames in by_eu_stack.threads.items()
    }


def test_live_and_dumped_processes_have_the_same_stack(tmp_path: Path) -> None:
    (program,) = (program for program in stock_programs() if program.name == "perl")
    with program.running(tmp_path) as pid:
        live = eu_stack.of_process(pid).pcs()
        assert {tid: thread.pcs() for tid, thread in gdb_bt.of_process(pid).items()} == live


def test_what_bt_prints_is_what_the_frames_are() -> None:
    made = kept_many_threads_core(3)
    printed = bt_text.parse(gdb_bt.bt_text(made.core, made.build.twin))
    walked = gdb_bt.of_core(made.core, made.build.twin)
    assert {tid: [line.name for line in lines] for tid, lines in printed.items()} == {
        tid: [frame.name for frame in thread.frames] for tid, thread in walked.items()
    }
