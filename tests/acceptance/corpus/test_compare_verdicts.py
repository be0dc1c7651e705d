"""`whocall compare`: its counts and verdicts, recounted from gdb's frames and the truth."""

from __future__ import annotations

import pytest
from oracles import eu_stack, gdb_bt

from acceptance.corpus import recount
from acceptance.helpers import chains
from acceptance.helpers.corpusruns import NAMES, Corpora, Run
from acceptance.helpers.scoreboard import Scoreboard
from acceptance.helpers.stockcores import StockCores

OVERFLOWS = ("recursion", "recursion_small_stack")
"""Thousands of equal frames: how they pair is arbitrary."""

_FIRST = {name.partition("/")[0]: name for name in reversed(NAMES[False])}
CASES = [name for program, name in sorted(_FIRST.items()) if program not in OVERFLOWS]
"""One build of each program, without unwind tables, so that gdb errs."""

KNOWN_FAILURES = ("null_call/gcc-O0-nofp-static-pie-notables", "chain/gcc-O0-nofp-static-notables")
"""gdb cannot know the caller here: no function start, no table, no frame pointer."""


def _compared(run: Run) -> recount.Shown:
    document = recount.compare(run.built.core, run.built.exe)
    return recount.shown(document, run.built.truth().crashed.tid)


def _assert_gdbs_frames_are_gdbs(found: recount.Shown, run: Run) -> None:
    """The comparison shows what gdb itself shows, as far as gdb goes by default settings.

    The witness walks beyond the entry point as well; the comparison need not.
    """
    truth = run.built.truth().crashed
    said = gdb_bt.of_core(run.built.core, run.built.exe)
    thread = said.get(truth.tid) or next(iter(said.values()))
    gdbs = thread.pcs()
    assert found.gdbs == gdbs[: len(found.gdbs)]
    if len(gdbs) > len(found.gdbs):
        assert found.gdbs[-1] == truth.frames[-1].pc


@pytest.mark.parametrize("case_name", CASES)
def test_counts_and_verdicts(case_name: str, corpora: Corpora, scoreboard: Scoreboard) -> None:
    run = corpora.run(case_name)
    truth = run.built.truth().crashed
    true = [frame.pc for frame in truth.frames]
    found = _compared(run)
    _assert_gdbs_frames_are_gdbs(found, run)
    assert found.ours == chains.pcs(run.stripped[truth.tid])
    assert found.counts == recount.counted(found.rows)

    common = recount.common_length(found.ours, found.gdbs)
    assert found.counts["missing"] == len(found.ours) - common
    alone = sum(found.counts[key] for key in ("false", "unproven", "beyond"))
    assert alone == len(found.gdbs) - common
    # Never may a true frame of gdb's be called false, however wrong whocall's chain is.
    truly_false = len(found.gdbs) - recount.common_length(true, found.gdbs)
    assert found.counts["false"] <= truly_false
    table = scoreboard.table(
        "Comparison without unwind tables: gdb's frames", "case", "true chain", "gdb", "false"
    )
    table.rows.append((case_name, len(true), len(found.gdbs), truly_false))
    if found.ours != true:
        return
    assert alone == truly_false
    if found.all_sure:
        assert found.counts["false"] == truly_false
        assert found.counts["unproven"] == found.counts["beyond"] == 0


@pytest.mark.parametrize("case_name", CASES)
def test_verdicts_on_names(case_name: str, corpora: Corpora) -> None:
    run = corpora.run(case_name)
    names = {frame.pc: frame.true_names for frame in run.built.truth().frames}
    for row in _compared(run).with_verdict(*recount.FOUND):
        true = names.get(int(row["whocall"]["pc"], 16), ())
        assert row["whocall"]["pc"] == row["gdb"]["pc"]
        assert row["verdict"] == recount.verdict_on_names(row, true), row


@pytest.mark.parametrize("case_name", KNOWN_FAILURES)
def test_known_failures_of_gdb(case_name: str, corpora: Corpora) -> None:
    run = corpora.run(case_name)
    true = [frame.pc for frame in run.built.truth().frames]
    document = recount.compare(run.built.core, run.built.exe)
    found = recount.shown(document)
    assert found.ours == true
    assert found.rows[0]["verdict"] in recount.FOUND, "both read the same registers"
    missing = [int(row["whocall"]["pc"], 16) for row in found.with_verdict("missing in gdb")]
    assert missing
    assert set(missing) <= set(true) - set(found.gdbs)
    false = [int(row["gdb"]["pc"], 16) for row in found.with_verdict("false in gdb")]
    assert false
    assert not set(false) & set(true[1:])  # frame 0 may be at 0, and gdb may end with a false 0
    divergence = document["threads"][0]["first_divergence"]
    parting = found.rows[divergence["row"]]
    assert parting["verdict"] in ("missing in gdb", "false in gdb")
    assert all(row["verdict"] in recount.FOUND for row in found.rows[: divergence["row"]])
    assert "no unwind table" in divergence["explanation"]


@pytest.mark.parametrize("case_name", KNOWN_FAILURES[:1])
def test_gdb_and_the_command_line_compare_alike(case_name: str, corpora: Corpora) -> None:
    run = corpora.run(case_name)
    outside = recount.shown(recount.compare(run.built.core, run.built.exe))
    inside = recount.shown(recount.compare_in_gdb(run.built.core, run.built.exe))
    assert inside == outside


@pytest.mark.parametrize("name", ["perl", "python3-threads"])
def test_gdb_is_not_blamed_where_it_is_right(name: str, stock_cores: StockCores) -> None:
    """With unwind tables gdb finds what whocall and eu-stack find; no frame is anybody's fault."""
    stock = stock_cores.core(name)
    document = recount.compare(stock.core, stock.exe)
    true = eu_stack.of_core(stock.core, stock.exe).pcs()
    assert {thread["lwp"] for thread in document["threads"]} == set(true)
    for lwp, pcs in true.items():
        found = recount.shown(document, lwp)
        assert found.counts == recount.counted(found.rows)
        assert found.ours == pcs
        assert found.gdbs == pcs
        assert not found.with_verdict("missing in gdb", *recount.GDB_ALONE)
        # Where a debug file tells of inlined calls, they count as frames.
        inlined = sum(row["whocall"]["inlined"] for row in found.rows if row["whocall"])
        assert found.counts["frames"] == len(pcs) + inlined
