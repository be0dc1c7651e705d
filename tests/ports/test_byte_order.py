"""ARM and AArch64 with big-endian data and little-endian code, on a little-endian host.

The distribution has no C library of them, so the program stands alone; its twin's symbols tell
which functions are on its stack.
"""

from __future__ import annotations

import shutil
import subprocess
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest
from corpus.crash import ENVIRONMENT, set_limits
from oracles.tools import run
from places.needs import OWN_CORES, require

from ports import ROOT, voices
from ports.matrix import OWN

CHAIN = ["fault", "choose", *["deep"] * 6, "main", "_start"]
FLAGS = ("-O2", "-mbig-endian", "-nostdlib", "-static", "-ffreestanding")
WITHOUT = ("-fno-optimize-sibling-calls", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables")


class ByteOrder(NamedTuple):
    """How such programs are made and run."""

    triple: str
    qemu: str
    flags: tuple[str, ...]


ORDERS = {
    "arm": ByteOrder("arm-linux-gnueabihf", "qemu-armeb", ("-marm", "-Wl,--be8")),
    "thumb": ByteOrder("arm-linux-gnueabihf", "qemu-armeb", ("-mthumb", "-Wl,--be8")),
    "aarch64": ByteOrder("aarch64-linux-gnu", "qemu-aarch64_be", ()),
    "aarch64-records": ByteOrder(
        "aarch64-linux-gnu", "qemu-aarch64_be", ("-fno-omit-frame-pointer",)
    ),
}


@dataclass(frozen=True)
class Built:
    """A crash of a stripped program."""

    core: Path
    exe: Path
    twin: Path
    triple: str

    @property
    def sysroot(self) -> str:
        """A folder without the libraries of another machine."""
        return str(self.core.parent)

    def functions_at(self, pcs: list[int]) -> list[str]:
        """By the twin's symbols."""
        named = [
            line.split() for line in run([f"{self.triple}-nm", "-n", str(self.twin)]).splitlines()
        ]
        code = [(int(at, 16), name) for at, kind, name in named if kind in "tT"]
        starts = [at for at, _ in code]
        return [code[bisect_right(starts, pc) - 1][1].split(".")[0] for pc in pcs]


@pytest.fixture(params=ORDERS)
def built(request: pytest.FixtureRequest, tmp_path: Path) -> Built:
    require(OWN_CORES)
    twin, exe = tmp_path / "twin", tmp_path / "program"
    triple, qemu, own = ORDERS[request.param]
    source = str(OWN / "byte_order.c")
    command = [f"{triple}-gcc", *FLAGS, *own, *WITHOUT, source, "-o", str(twin)]
    subprocess.run(command, check=True)
    shutil.copy(twin, exe)
    subprocess.run([f"{triple}-strip", "--strip-all", str(exe)], check=True)
    subprocess.run(
        [qemu, str(exe)],
        cwd=tmp_path,
        env=ENVIRONMENT,
        preexec_fn=set_limits,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    (core,) = tmp_path.glob("qemu_*.core")
    return Built(core, exe, twin, triple)


def test_whocall(built: Built) -> None:
    (chain,) = voices.ask_whocall(built).values()
    assert built.functions_at([frame.pc for frame in chain]) == CHAIN


def test_gdb_after_repair(built: Built) -> None:
    (chains,) = voices.ask_repaired([built], ROOT / "gdbext" / "whocall.py")
    (chain,) = chains.values()
    assert built.functions_at([frame.pc for frame in chain]) == CHAIN
