"""The commands on a program behind gdbserver."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator

import pytest
from programs import Crash
from sessions import batch, environment
from test_live import BT, pcs


@pytest.fixture
def server(chain: Crash) -> Iterator[str]:
    """gdbserver with the program, before its first instruction; the value is its address."""
    gdbserver = shutil.which("gdbserver")
    assert gdbserver, "gdbserver is not installed: scripts/prepare tests installs it"
    with subprocess.Popen(
        [gdbserver, "--once", "--no-startup-with-shell", "127.0.0.1:0", str(chain.exe)],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        port = next(line.split()[-1] for line in process.stderr if "istening on port" in line)
        yield f"127.0.0.1:{port}"
        process.kill()


def test_remote_is_as_the_core(chain: Crash, server: str) -> None:
    said = batch([f"target remote {server}", "continue", *BT, "whocall modules", "kill"])
    assert said.status == 0, said.err
    [remote] = pcs(said.out)
    [core] = pcs(batch(BT, [chain.exe, chain.core]).out)
    assert [pc & 0xFFF for pc in remote] == [pc & 0xFFF for pc in core]
    assert str(chain.exe) in said.out
    assert "missing" not in said.out
