"""Crashes for the command line: those that the sessions of tests/gdb work on."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "gdb"))
from shared_crashes import chain, workers

__all__ = ["chain", "workers"]
