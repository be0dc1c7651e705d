"""What the crash corpora say in numbers, by trust, by variant, and beside gdb and eu-stack.

The cases are judged one by one elsewhere; here stand the sums that must not sink unnoticed, and the
tables that the summary shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import pytest
from oracles import eu_stack, gdb_bt
from oracles.tools import ToolError

from acceptance.helpers import chains
from acceptance.helpers.corpusruns import NAMES, Corpora, Run, score
from acceptance.helpers.scoreboard import Scoreboard
from whocall.base.model import TRUST

TITLES = {True: "Crash corpus", False: "Crash corpus without unwind tables"}
LEAST_CASES = {True: 196, False: 180}
LEAST_EXACT = {True: 196, False: 180}
LEAST_CLEAN_ENDS = {True: 196, False: 180}
"""Crashed threads whose walk knows that it reached the end, of those where the truth does."""

MOST_FALSE_BY_TRUST: dict[str, int] = {"context": 0, "cfi": 0}
"""False frames that a trust may vouch for in either corpus; what is not listed has no floor."""


def _row(label: str, runs: list[Run]) -> tuple[object, ...]:
    """Means over cases: a deep recursion must not outvote everything else."""
    judged = [run.judged for run in runs]
    recall = 100 * sum(one.recall for one in judged) / len(judged)
    precision = 100 * sum(one.precision for one in judged) / len(judged)
    exact = sum(not one.wrong for one in judged)
    return label, len(runs), exact, sum(one.true for one in judged), recall, precision


def _ends_cleanly(run: Run) -> bool:
    truth = run.built.truth().crashed
    reason = run.stripped[truth.tid].stop.reason
    return truth.complete and not run.judged.wrong and reason == "end-of-stack"


def _groups(runs: Iterable[Run], key: Callable[[Run], str]) -> dict[str, list[Run]]:
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(key(run), []).append(run)
    return groups


def _show(tables: bool, runs: list[Run], board: Scoreboard) -> None:
    title = TITLES[tables]
    heads = ("cases", "exact", "frames", "recall %", "precision %")
    by_variant = board.table(f"{title}, by variant", "variant", *heads)
    for name, group in sorted(_groups(runs, lambda run: run.built.case.variant.name).items()):
        by_variant.rows.append(_row(name, group))
    by_variant.rows.append(_row("all", runs))
    inexact = [run for run in runs if run.judged.wrong]
    for name, group in sorted(_groups(inexact, lambda run: run.built.case.name).items()):
        board.table(f"{title}, not exact", "case", *heads).rows.append(_row(name, group))


@pytest.mark.parametrize("tables", [True, False], ids=["tables", "no-tables"])
def test_totals(tables: bool, corpora: Corpora, scoreboard: Scoreboard) -> None:
    runs = corpora.runs(tables)
    _show(tables, runs, scoreboard)
    found, false = Counter[str](), Counter[str]()
    for run in runs:
        found.update(run.judged.trust)
        false.update(run.judged.false_by_trust)
    by_trust = scoreboard.table(f"{TITLES[tables]}, by trust", "trust", "frames", "false", "true %")
    for trust in TRUST:
        true = 100 * score(found[trust] - false[trust], found[trust])
        by_trust.rows.append((trust, found[trust], false[trust], true))
    ends = scoreboard.table("Chains that are exact and known to have ended", "corpus", "cases")
    ends.rows.append((TITLES[tables], sum(map(_ends_cleanly, runs))))
    assert set(found) <= set(TRUST)
    assert len(NAMES[tables]) >= LEAST_CASES[tables]
    assert len(runs) == len(NAMES[tables]), "cases could not be built"
    assert sum(not run.judged.wrong for run in runs) >= LEAST_EXACT[tables]
    assert sum(map(_ends_cleanly, runs)) >= LEAST_CLEAN_ENDS[tables]
    for trust, most in MOST_FALSE_BY_TRUST.items():
        assert false[trust] <= most


def _first_of_each_program(runs: list[Run]) -> list[Run]:
    return [group[0] for group in _groups(runs, lambda run: run.built.case.program.name).values()]


def _pcs_of_gdb(run: Run) -> list[int]:
    truth = run.built.truth().crashed
    said = gdb_bt.of_core(run.built.core, run.built.exe, limit=2 * len(truth.frames) + 50)
    return _without_end(said[truth.tid].pcs() if truth.tid in said else _only(said))


def _only(said: dict[int, gdb_bt.GdbThread]) -> list[int]:
    """A core of one thread may have no thread id in gdb."""
    return next(iter(said.values())).pcs() if len(said) == 1 else []


def _pcs_of_eu_stack(run: Run) -> list[int]:
    truth = run.built.truth().crashed
    try:
        said = eu_stack.of_core(
            run.built.core, run.built.exe, limit=2 * len(truth.frames) + 50
        ).pcs()
    except ToolError:  # it found nothing at all
        return []
    return _without_end(said.get(truth.tid, []))


def _without_end(found: list[int]) -> list[int]:
    """Both tools may print a last pc of 0 behind the outermost frame: no claim, so no fault."""
    return found[:-1] if len(found) > 1 and found[-1] <= 1 else found


@pytest.mark.parametrize("tables", [False], ids=["no-tables"])
def test_better_than_the_others(tables: bool, corpora: Corpora, scoreboard: Scoreboard) -> None:
    """gdb and eu-stack see the same stripped files; each program's first build is asked for."""
    runs = _first_of_each_program(corpora.runs(tables))
    tools: dict[str, Callable[[Run], list[int]]] = {
        "whocall": lambda run: chains.pcs(run.stripped[run.built.truth().crashed.tid]),
        "gdb": _pcs_of_gdb,
        "eu-stack": _pcs_of_eu_stack,
    }
    table = scoreboard.table(
        f"{TITLES[tables]}, {len(runs)} cases", "tool", "exact", "recall %", "precision %"
    )
    exact = {}
    for tool, ask in tools.items():
        recalls, precisions, exact[tool] = [], [], 0
        for run in runs:
            true = [frame.pc for frame in run.built.truth().frames]
            found = ask(run)
            wrong = chains.difference(found, true)
            recalls.append(score(len(true) - len(wrong.missing), len(true)))
            precisions.append(score(len(found) - len(wrong.false), len(found)))
            exact[tool] += not wrong
        means = [100 * sum(shares) / len(shares) for shares in (recalls, precisions)]
        table.rows.append((tool, exact[tool], *means))
    assert exact["whocall"] > 2 * exact["gdb"]
    assert exact["whocall"] > 2 * exact["eu-stack"]
