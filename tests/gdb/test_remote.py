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


# The dynamic linker's list: struct r_debug { version; first }, struct link_map { ...; next }.
LIST = ["set $first = *(unsigned long *)((char *)&_r_debug + 8)", "set $next = $first + 24"]
DAMAGES = {
    "its own next": "set var *(unsigned long *)$next = $first",
    "a wild pointer": "set var *(unsigned long *)$next = 0x4141414141414141",
    "no list": "set var *(unsigned long *)((char *)&_r_debug + 8) = 0x4141414141414141",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_list_of_files_costs_at_most_the_files(
    damage: str, chain: Crash, server: str
) -> None:
    begin = [f"target remote {server}", "continue", *LIST]
    said = batch([*begin, DAMAGES[damage], *BT, "whocall modules", "kill"], [chain.exe])
    assert said.status == 0, said.err
    [remote] = pcs(said.out)
    [core] = pcs(batch(BT, [chain.exe, chain.core]).out)
    assert [pc & 0xFFF for pc in remote][:3] == [pc & 0xFFF for pc in core][:3]
    assert str(chain.exe) in said.out
