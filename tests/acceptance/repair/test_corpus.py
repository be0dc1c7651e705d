"""After `whocall repair` gdb's own `bt` shows the true chain, where before it did not.

Asked of the crash corpus without unwind tables, of the damaged stacks, and of stock programs whose
files have lost their tables.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import whocall
from acceptance.helpers import chains
from acceptance.helpers.bareroot import BareRoot
from acceptance.helpers.corpusruns import Corpora
from acceptance.helpers.damageruns import Subject, Verdict
from acceptance.helpers.scoreboard import Scoreboard
from acceptance.helpers.stockcores import StockCores
from acceptance.repair.ownframes import complaints, job_of, job_of_subject
from acceptance.repair.repairruns import Job, Outcome, ask

STOCK = (
    *("python3", "python3-signal-kill", "bash", "perl", "git-log", "openssl-dgst"),
    *("many-64-threads", "gdb-prompt"),
)
LEAST = 97.0
"""Percent of recall and of precision after the repair, means over the cases of a kind."""
MOST_BEFORE = 50.0
"""Percent of recall before, of the kinds in which gdb knows no function."""

all_cases = pytest.mark.parametrize("tables", [False], ids=["no-tables"])


def _stock_job(name: str, cores: StockCores, bare: BareRoot) -> Job:
    stock = cores.core(name)
    with whocall.open_core(str(stock.core), str(stock.exe)) as image:
        bare.add(Path(module.file_path) for module in image.modules if module.file_path)
        true = {lwp: chains.pcs(trace) for lwp, trace in chains.traces(image).items()}
    exe = bare.of(stock.exe)
    return Job(name, "stock", 64, exe, stock.core, true, settings=bare.gdb_settings())


@pytest.fixture(scope="module")
def outcomes(
    corpora: Corpora,
    damaged: list[Subject | str],
    stock_cores: StockCores,
    tmp_path_factory: pytest.TempPathFactory,
) -> list[Outcome]:
    """Of every case of both corpora, and of some stock programs."""
    jobs = [job_of(run.built, "no tables") for run in corpora.runs(False)]
    jobs += [job_of_subject(one) for one in damaged if isinstance(one, Subject)]
    bare = BareRoot(tmp_path_factory.mktemp("bare"))
    jobs += [_stock_job(name, stock_cores, bare) for name in STOCK]
    return ask(jobs, tmp_path_factory.mktemp("repaired"))


def _shares(verdicts: list[Verdict]) -> tuple[float, float]:
    recall = 100 * sum(one.recall for one in verdicts) / len(verdicts)
    return recall, 100 * sum(one.precision for one in verdicts) / len(verdicts)


@all_cases
def test_recall_and_precision(
    tables: bool, outcomes: list[Outcome], scoreboard: Scoreboard
) -> None:
    heads = ("cases", "frames", "recall %", "precision %")
    after = ("recall %", "precision %", "exact", "repair ms")
    table = scoreboard.table(
        "gdb's own bt: before and after whocall repair", "kind", *heads, *after
    )
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        arch = "i386" if outcome.job.bits == 32 else "x86_64"
        groups.setdefault(f"{outcome.job.kind}, {arch}", []).append(outcome)
    shares = {}
    for kind, group in {**groups, "all": outcomes}.items():
        shares[kind] = [
            _shares([one.before for one in group]),
            _shares([one.after for one in group]),
        ]
        frames = sum(one.after.required for one in group)
        exact = sum(one.after.right == one.after.required and not one.after.false for one in group)
        spent = 1000 * sum(one.seconds for one in group) / len(group)
        table.rows.append(
            (kind, len(group), frames, *shares[kind][0], *shares[kind][1], exact, round(spent))
        )
    for kind, (_, (recall, precision)) in shares.items():
        assert min(recall, precision) >= LEAST, kind
    assert shares["stock, x86_64"][0][0] < MOST_BEFORE
    assert shares["overwritten, x86_64"][0][0] < MOST_BEFORE


@all_cases
def test_every_case_is_exact(tables: bool, outcomes: list[Outcome]) -> None:
    short = []
    for outcome in outcomes:
        if outcome.job.kind == "stock":
            continue  # never twice the same stack
        if outcome.after.recall < 1 or outcome.after.precision < 1:
            short.append(outcome.message())
    assert not short, "\n".join(short[:5])


@all_cases
def test_gdb_keeps_its_true_frames(tables: bool, outcomes: list[Outcome]) -> None:
    assert sum(outcome.own + outcome.by_chance for outcome in outcomes) > 4000
    assert not complaints(outcomes), "\n".join(complaints(outcomes)[:5])


@all_cases
def test_bt_prints_what_the_frames_are(tables: bool, outcomes: list[Outcome]) -> None:
    """The text has at least the frames that gdb's API has; inlined calls stand in it besides."""
    for outcome in outcomes:
        assert outcome.shown >= min(map(len, outcome.found)), outcome.job.name
