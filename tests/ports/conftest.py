"""The scoreboard of the acceptance tests is here, too."""

from __future__ import annotations

import pytest
from acceptance.helpers.scoreboard import Scoreboard

_BOARD = Scoreboard()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was measured, also when everything passed."""
    for table in _BOARD.tables.values():
        terminalreporter.section("measured", sep="-")
        for line in table.lines():
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def scoreboard() -> Scoreboard:
    """Where tests write what they measured."""
    return _BOARD
