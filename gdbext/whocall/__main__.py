"""`python3 -m whocall` is the command line."""

from __future__ import annotations

import sys

from whocall.entry import run

sys.exit(run())
