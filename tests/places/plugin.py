"""What pytest is told of places: tests that cannot be shown are skipped, and nothing else is."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from places.needs import NOT_SHOWN, require

UNASKED = "skips without saying what its place refuses (see tests/places/needs.py)"


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", "needs(*names): what has to be allowed: places/needs.py")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before any fixture is made."""
    for marker in item.iter_markers("needs"):
        require(*marker.args)


def _judge(report: Any) -> None:
    if report.outcome == "skipped" and NOT_SHOWN not in str(report.longrepr):
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} {UNASKED}: {report.longrepr}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, None]:
    """Of a test."""
    _judge((yield).get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, None]:
    """Of a module that skips as a whole."""
    _judge((yield).get_result())
