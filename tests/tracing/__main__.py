"""The campaign of damaged traces: python3 tests/tracing [--count N] [--seed N]."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
os.environ.setdefault("WHOCALL_BUILD_DIR", str(ROOT / "build" / "release"))
os.environ.pop("DEBUGINFOD_URLS", None)
sys.path[:0] = [str(ROOT / part) for part in ("tests", "gdbext")]

from tracing.campaign import campaign, originals  # noqa: E402


def main() -> int:
    """Prints how many of each kind were told, told with a warning, and refused."""
    parser = argparse.ArgumentParser(prog="python3 tests/tracing", description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcomes: Counter[str] = campaign(originals(Path(folder)), arguments.count, arguments.seed)
    for name, number in sorted(outcomes.items()):
        print(f"{name:24} {number:6}")
    return 1 if outcomes["FAULT"] else 0


if __name__ == "__main__":
    sys.exit(main())
