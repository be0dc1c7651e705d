"""A program below qemu's gdb stub: gdb-multiarch knows neither where it lies nor what else does.

An x86-64 guest shows it too.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from oracles.tools import environment, run

from ports import ROOT

PROGRAM = """
__attribute__((noinline)) int deepest(int x) { __asm__ volatile(""); return x + 1; }
__attribute__((noinline)) int middle(int x) { return deepest(x) * 3; }
int main(int argc, char **argv) { return middle(argc) + 5; }
"""


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@pytest.fixture
def stub(tmp_path: Path) -> Iterator[tuple[Path, int, dict[str, int]]]:
    """The program, the port, and the link addresses of its functions."""
    (tmp_path / "prog.c").write_text(PROGRAM)
    run(["gcc", "-O1", "-pie", "-fPIE", str(tmp_path / "prog.c"), "-o", str(tmp_path / "twin")])
    said = run(["nm", str(tmp_path / "twin")]).splitlines()
    places = {line.split()[-1]: int(line.split()[0], 16) for line in said if " T " in line}
    program = tmp_path / "prog"
    shutil.copy(tmp_path / "twin", program)
    run(["strip", str(program)])
    port = _free_port()
    guest = subprocess.Popen(["qemu-x86_64", "-g", str(port), str(program)], cwd=tmp_path)
    yield program, port, places
    guest.kill()
    guest.wait()


def test_walk_repair_step_and_finish(stub: tuple[Path, int, dict[str, int]]) -> None:
    """Modules come from the auxiliary vector and the linker's list that the stub lets us read."""
    program, port, places = stub
    bias = "$entry - " + str(places["_start"])
    commands = [
        f"target remote 127.0.0.1:{port}",
        "python import re; gdb.set_convenience_variable('entry', int(re.search("
        "r'AT_ENTRY.*(0x[0-9a-f]+)', gdb.execute('info auxv', to_string=True))[1], 16))",
        f"break *({bias} + {places['deepest']})",
        "continue",
        f"source {ROOT / 'gdbext' / 'whocall.py'}",
        "echo --- walk\\n",
        "whocall bt",
        "echo --- repaired\\n",
        "whocall repair",
        "bt",
        "echo --- finished\\n",
        "finish",
        "bt",
        "echo --- stepped\\n",
        "step",
        "bt",
        "kill",
    ]
    words = [word for command in commands for word in ("-ex", command)]
    command = ["gdb-multiarch", "-nx", "-q", "-batch", "-iex", "set sysroot /", *words]
    done = subprocess.run(
        [*command, str(program)],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    _, walk, repaired, finished, stepped = done.stdout.split("--- ")
    # gdb stops at a function's first instruction; what calls it has no names of its own.
    rows = [line for line in walk.splitlines() if line.startswith("#")]
    assert len(rows) == 3, done.stdout
    assert "main" in rows[2]
    frames = [line for line in repaired.splitlines() if line.startswith("#")]
    middle, main = (row.split()[1] for row in rows[1:])
    assert [line.split()[1] for line in frames[1:3]] == [middle, main], done.stdout
    frames = [line for line in finished.splitlines() if line.startswith("#")]
    assert frames[0].split()[1] == middle, done.stdout
    frames = [line for line in stepped.splitlines() if line.startswith("#")]
    assert frames[0].split()[1] == main, done.stdout
