"""What the acceptance tests share: one scoreboard a session, and crashes that are made once."""

from __future__ import annotations

import pytest
from _pytest.terminal import TerminalReporter

from acceptance.helpers.corpusruns import NAMES, Corpora
from acceptance.helpers.damageruns import Subject, build_damage
from acceptance.helpers.scoreboard import Scoreboard
from acceptance.helpers.stockcores import StockCores

_BOARD = pytest.StashKey[Scoreboard]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the scoreboard before the first test."""
    config.stash[_BOARD] = Scoreboard()


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    """Print what was measured, also when everything passed."""
    for table in config.stash[_BOARD].tables.values():
        terminalreporter.section("measured", sep="-")
        for line in table.lines():
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def scoreboard(pytestconfig: pytest.Config) -> Scoreboard:
    """Where tests write what they measured."""
    return pytestconfig.stash[_BOARD]


@pytest.fixture(scope="session")
def stock_cores() -> StockCores:
    """Dumps on demand."""
    return StockCores()


@pytest.fixture(scope="session")
def damaged() -> list[Subject | str]:
    """Every case of the damage corpus, or why it could not be built."""
    return build_damage()


@pytest.fixture(scope="session")
def corpora(request: pytest.FixtureRequest) -> Corpora:
    """The crash corpora, restricted to what the selected tests name.

    A test names one case by the parameter `case_name`, several by `case_names`, a whole corpus by
    `tables`.
    """
    selected: set[str] = set()
    for item in request.session.items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        if "case_name" in parameters:
            selected.add(parameters["case_name"])
        if "tables" in parameters:
            selected.update(NAMES[parameters["tables"]])
        selected.update(parameters.get("case_names", ()))
    return Corpora(selected)
