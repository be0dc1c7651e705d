"""Makes a plain `pytest` work like tests/run: the checkout's package, the release build."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
os.environ.setdefault("WHOCALL_BUILD_DIR", str(ROOT / "build" / "release"))
os.environ.pop("DEBUGINFOD_URLS", None)
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
