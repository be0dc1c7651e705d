"""`python3 -m whocall` is the command line."""

from __future__ import annotations

import sys

from whocall.cli.main import main

sys.exit(main())
