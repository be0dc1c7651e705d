"""Makes a plain `pytest` work like tests/run: the checkout's package, the release build."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from kept import default_place

ROOT = Path(__file__).resolve().parent.parent
os.environ.setdefault("WHOCALL_BUILD_DIR", str(ROOT / "build" / "release"))
os.environ.pop("DEBUGINFOD_URLS", None)
# What is kept from run to run lies in the user's cache all the same.
os.environ["WHOCALL_TEST_CACHE"] = os.environ.get("WHOCALL_TEST_CACHE") or default_place()
# Symbol files made here are not for the user's own cache, and those that lie there are not for us.
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="whocall-tests-cache-")
# Whoever starts us in the background has it ignored, and with it all that we start.
signal.signal(signal.SIGINT, signal.default_int_handler)
atexit.register(shutil.rmtree, os.environ["XDG_CACHE_HOME"], ignore_errors=True)
if str(ROOT / "gdbext") not in sys.path:
    sys.path.insert(0, str(ROOT / "gdbext"))


@pytest.fixture(scope="session")
def project_root() -> Path:
    """The checkout's folder."""
    return ROOT


@pytest.fixture(scope="session")
def build_directory() -> Path:
    """The folder with whocall/_native*.so and whocall/whocall_bfd.so."""
    return Path(os.environ["WHOCALL_BUILD_DIR"])
