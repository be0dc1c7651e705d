"""gdb on a terminal, as a person has it."""

from __future__ import annotations

from pathlib import Path

import pexpect
from programs import Crash
from sessions import GDB, SCRIPT, environment

PAGER = "--Type <RET> for more, q to quit"
PROMPT = "(gdb) "


def terminal(
    crash: Crash, *options: str, script: Path = SCRIPT, term: str = "dumb", **more: str
) -> pexpect.spawn:
    """gdb on a terminal of 24 lines with the extension loaded, at its prompt."""
    arguments = ["-nx", "-q", *options, "-ex", f"source {script}", str(crash.exe), str(crash.core)]
    child = pexpect.spawn(
        GDB, arguments, env=environment(TERM=term, **more), encoding="utf-8", timeout=60,
        dimensions=(24, 200),
    )  # fmt: skip
    child.expect_exact('type "whocall bt"')
    child.expect_exact(PROMPT)
    return child
