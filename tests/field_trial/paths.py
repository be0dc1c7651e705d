"""Finds the checkout's package and the helpers of the other tests from a plain interpreter."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def prepare() -> None:
    """Makes `whocall`, `acceptance` and `oracles` importable, and chooses the release build."""
    os.environ.setdefault("WHOCALL_BUILD_DIR", str(ROOT / "build" / "release"))
    os.environ.pop("DEBUGINFOD_URLS", None)
    for folder in ("tests", "gdbext"):
        if str(ROOT / folder) not in sys.path:
            sys.path.insert(0, str(ROOT / folder))
