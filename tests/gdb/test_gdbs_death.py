"""gdb is asked to end while it debugs a program that we have worked on: it does so in order."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pexpect
import pytest
from programs import Crash
from terminals import PROMPT, terminal


@pytest.mark.parametrize(
    "command", ["whocall repair", "whocall bt -all", "set whocall auto-repair on"]
)
def test_gdb_ends_in_order(chain: Crash, tmp_path: Path, command: str) -> None:
    child = terminal(chain, XDG_CACHE_HOME=str(tmp_path))
    for line in ("set confirm off", "run", command):
        child.sendline(line)
        child.expect_exact(PROMPT)
    os.kill(child.pid, signal.SIGTERM)
    child.expect_exact(pexpect.EOF)
    child.close()
    assert "internal-error" not in child.before and "Fatal signal" not in child.before
    assert child.signalstatus is None


def test_no_connection_is_asked_for() -> None:
    rooms = Path(__file__).resolve().parents[2] / "gdbext" / "whocall" / "gdb"
    asking = re.compile(r"""\.connection\b|["']connection["']""")
    assert [path.name for path in rooms.rglob("*.py") if asking.search(path.read_text())] == [
        "connections.py"  # says why
    ]
