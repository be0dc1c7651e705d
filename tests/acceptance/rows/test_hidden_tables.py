"""What the analysis of instructions finds when the unwind tables are hidden.

The oracle needs no symbols: the walk that uses the tables. Hidden tables still tell where functions
begin; in the bare files nothing does, and gdb has to do with the same files. (The tables themselves
are the oracle of test_audit.py.)
"""

from __future__ import annotations

import pytest
from oracles.tools import run
from stock import stock_programs

from acceptance.helpers.bareroot import BareRoot
from acceptance.helpers.scoreboard import Scoreboard
from acceptance.helpers.stockcores import StockCores
from acceptance.rows.tableless import Score, Scores, measure

NAMES = [program.name for program in stock_programs()]

LEAST_FOUND = 0.995
"""Of the frames that the walk with tables finds, over all stock programs."""

MOST_FALSE = 0.005
"""Of the frames that the walk without tables prints."""

LEAST_FOUND_BARE = 0.97
MOST_FALSE_BARE = 0.005
"""The same with files that have no tables."""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> BareRoot:
    """Files without tables."""
    return BareRoot(tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="module")
def measured(stock_cores: StockCores, scoreboard: Scoreboard, bare: BareRoot) -> Scores:
    """The scores of all stock programs together; those of each go to the scoreboard."""
    groups = ("hidden", "bare", "gdb")
    rows = scoreboard.table(
        "Stock programs: whocall with hidden tables; whocall and gdb, no tables in any file (bare)",
        *("program", "threads", "frames"),
        *(f"{group} {what}" for group in groups for what in ("found", "missing", "false")),
    ).rows
    total = Scores(0, 0, Score(), Score(), Score())
    for name in NAMES:
        each = measure(stock_cores.core(name), bare)
        total += each
        rows.append((name, *each.row()))
    rows.append(("all", *total.row()))
    return total


def test_stock_programs_with_hidden_tables(measured: Scores) -> None:
    """Where functions begin is known."""
    assert measured.hidden.share_found >= LEAST_FOUND
    assert measured.hidden.share_false <= MOST_FALSE


def test_stock_programs_without_tables(measured: Scores) -> None:
    """Where functions begin has to be found out, in the C library as well."""
    assert measured.bare.share_found >= LEAST_FOUND_BARE
    assert measured.bare.share_false <= MOST_FALSE_BARE


def test_gdb_has_all_the_bare_files(
    measured: Scores, stock_cores: StockCores, bare: BareRoot
) -> None:
    """Else it would be judged by what it was not given."""
    stock = stock_cores.core("perl")
    settings = [word for each in bare.gdb_settings() for word in ("-iex", each)]
    command = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", *settings]
    said = run([*command, str(bare.of(stock.exe)), str(stock.core), "-ex", "info sharedlibrary"])
    listed = [line.split() for line in said.splitlines() if line.startswith("0x")]
    assert {words[2] for words in listed} == {"Yes"}
    assert all(words[-1].startswith(f"{bare.root}/") for words in listed)
    assert any(words[-1].endswith("/libc.so.6") for words in listed)
    assert measured.gdb.found > measured.threads, "more than the frames that registers name"


def test_there_is_a_program_of_64_threads(measured: Scores, stock_cores: StockCores) -> None:
    """In native code and in an interpreter; the main thread comes on top."""
    wanted = 65
    many = [name for name in NAMES if stock_cores.program(name).threads == wanted]
    assert many == ["python3-threads", "many-64-threads"]
    assert measured.threads >= wanted * len(many)
