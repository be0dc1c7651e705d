"""Makes a plain `pytest` work like tests/run: the checkout's package, the release build.

And one scoreboard a session.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter
from acceptance.helpers.scoreboard import Scoreboard
from artifact_cache import default_place
from hypothesis import HealthCheck, settings
from places import plugin as places_plugin

ROOT = Path(__file__).resolve().parent.parent
os.environ.setdefault("WHOCALL_BUILD_DIR", str(ROOT / "build" / "release"))
os.environ.pop("DEBUGINFOD_URLS", None)
if (ROOT / "build" / "mips" / "bin").exists():  # where the system has no compilers for MIPS
    os.environ["PATH"] = f"{ROOT}/build/mips/bin:{os.environ['PATH']}"
# What is kept from run to run lies in the user's cache all the same.
os.environ["WHOCALL_TEST_CACHE"] = os.environ.get("WHOCALL_TEST_CACHE") or default_place()
# Symbol files made here are not for the user's own cache, and those that lie there are not for us.
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="whocall-tests-cache-")
# Whoever starts us in the background has it ignored, and with it all that we start.
signal.signal(signal.SIGINT, signal.default_int_handler)
atexit.register(shutil.rmtree, os.environ["XDG_CACHE_HOME"], ignore_errors=True)
if str(ROOT / "gdbext") not in sys.path:
    sys.path.insert(0, str(ROOT / "gdbext"))

# A machine that is busy elsewhere makes any example slow: how long one took decides nothing.
settings.register_profile("whocall", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("whocall")

_BOARD = pytest.StashKey[Scoreboard]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the scoreboard before the first test; the rules of places hold for every test."""
    config.pluginmanager.register(places_plugin, "places")
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
def project_root() -> Path:
    """The checkout's folder."""
    return ROOT


@pytest.fixture(scope="session")
def build_directory() -> Path:
    """The folder with whocall/_native*.so and whocall/whocall_bfd.so."""
    return Path(os.environ["WHOCALL_BUILD_DIR"])
