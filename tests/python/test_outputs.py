"""What a command writes never replaces what it reads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from programs import Crash
from sessions import SCRIPT, environment

COMMANDS = ["report", "triage", "trace", "unpack", "shrink", "export", "signatures"]


@pytest.mark.parametrize("link", [False, True], ids=["itself", "a link"])
@pytest.mark.parametrize("command", COMMANDS)
def test_the_input_is_kept(command: str, link: bool, chain: Crash, tmp_path: Path) -> None:
    kept = chain.core.read_bytes()
    core = tmp_path / "core"
    core.write_bytes(kept)
    output = tmp_path / "out"
    os.symlink(core, output) if link else os.link(core, output)
    ran = subprocess.run(
        [sys.executable, SCRIPT, command, core, "-o", output],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode == 2
    assert ran.stderr == f"whocall: {output} is what is read: write to another file\n"
    assert core.read_bytes() == kept


def test_a_core_among_many(chain: Crash, tmp_path: Path) -> None:
    """triage looks for them in directories."""
    core = tmp_path / "core"
    core.write_bytes(chain.core.read_bytes())
    command = [sys.executable, SCRIPT, "triage", tmp_path, "-o", core]
    ran = subprocess.run(
        command, env=environment(), capture_output=True, text=True, check=False, timeout=60
    )
    assert (ran.returncode, core.read_bytes()) == (2, chain.core.read_bytes()), ran.stderr
