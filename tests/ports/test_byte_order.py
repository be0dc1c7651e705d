"""ARM with big-endian data and little-endian code (BE8), on a little-endian host.

The distribution has no C library of it, so the program stands alone; its twin's symbols tell which
functions are on its stack.
"""

from __future__ import annotations

import shutil
import subprocess
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path

import pytest
from corpus.crash import ENVIRONMENT, set_limits
from oracles.tools import run

from ports import ROOT, voices
from ports.matrix import OWN

TRIPLE = "arm-linux-gnueabihf"
CHAIN = ["fault", "choose", *["deep"] * 6, "main", "_start"]
FLAGS = ("-mbig-endian", "-nostdlib", "-static", "-ffreestanding", "-Wl,--be8")
WITHOUT = ("-fno-optimize-sibling-calls", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables")


@dataclass(frozen=True)
class Built:
    """A crash of a stripped program."""

    core: Path
    exe: Path
    twin: Path
    sysroot: str = "/nowhere"

    def functions_at(self, pcs: list[int]) -> list[str]:
        """By the twin's symbols."""
        named = [line.split() for line in run([f"{TRIPLE}-nm", "-n", str(self.twin)]).splitlines()]
        code = [(int(at, 16), name) for at, kind, name in named if kind in "tT"]
        starts = [at for at, _ in code]
        return [code[bisect_right(starts, pc) - 1][1].split(".")[0] for pc in pcs]


@pytest.fixture(params=["-marm", "-mthumb"])
def built(request: pytest.FixtureRequest, tmp_path: Path) -> Built:
    twin, exe = tmp_path / "twin", tmp_path / "program"
    source = str(OWN / "byte_order.c")
    flags = [request.param, "-O2", *FLAGS, *WITHOUT]
    subprocess.run([f"{TRIPLE}-gcc", *flags, source, "-o", str(twin)], check=True)
    shutil.copy(twin, exe)
    subprocess.run([f"{TRIPLE}-strip", "--strip-all", str(exe)], check=True)
    subprocess.run(
        ["qemu-armeb", str(exe)],
        cwd=tmp_path,
        env=ENVIRONMENT,
        preexec_fn=set_limits,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    (core,) = tmp_path.glob("qemu_*.core")
    return Built(core, exe, twin)


def test_whocall(built: Built) -> None:
    (chain,) = voices.ask_whocall(built).values()
    assert built.functions_at([frame.pc for frame in chain]) == CHAIN


def test_gdb_after_repair(built: Built) -> None:
    (chains,) = voices.ask_repaired([built], ROOT / "gdbext" / "whocall.py")
    (chain,) = chains.values()
    assert built.functions_at([frame.pc for frame in chain]) == CHAIN
