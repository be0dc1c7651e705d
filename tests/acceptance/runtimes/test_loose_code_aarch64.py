"""Code that no file holds, where calls leave the return address in a register.

The oracle is the same code run in the program's own file, where whocall goes by tables.
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from artifact_cache import compilers, kept
from corpus.crash import ENVIRONMENT, set_limits
from oracles.tools import run
from places.needs import OWN_CORES, require

from acceptance.helpers import chains
from acceptance.runtimes.test_loose_code import Build

HERE = Path(__file__).parent
SOURCES = [HERE / name for name in ("loose_code.c", "loose_methods_aarch64.S")]
COMPILER = "aarch64-linux-gnu-gcc"
PADDINGS = ("zero", "data", "none")
FRAMED = ["a", "b", "ab", "bbaab", "h", "hhah", "fa", "jaja", "abhj" * 4]
FRAMELESS = ["c", "d", "k", "cdk", "ffc", "dddd", "acbd", "kkhk", "abcdfhk"]
DYING = ["x", "ax", "cx", "dy", "fx", "ay", "by", "z", "az", "cz", "bbaz", "abcdkhz"]


def built(padding: str, *flags: str) -> Build:
    options = ["-static", "-w", "-O1", f"-DPAD={padding}", *flags]

    def build(place: Path) -> Build:
        whole, exe = place / "whole", place / "program"
        run([COMPILER, *options, *map(str, SOURCES), "-o", str(whole)])
        run(["aarch64-linux-gnu-strip", "-o", str(exe), str(whole)])
        begin, end = (
            int(line.split()[0], 16)
            for line in sorted(run(["aarch64-linux-gnu-nm", str(whole)]).splitlines())
            if " methods_" in line
        )
        return Build(exe, range(begin, end))

    return kept(("methods of loose code", options, *SOURCES, compilers(COMPILER)), build)


def died(made: Build, chain: str) -> Path:
    def crash(place: Path) -> Path:
        subprocess.run(
            ["qemu-aarch64", "-E", f"CHAIN={chain}", str(made.exe)],
            cwd=place,
            env=ENVIRONMENT,
            capture_output=True,
            check=False,
            preexec_fn=set_limits,
        )
        (core,) = place.glob("qemu_*.core")
        return core

    return kept(("crash of loose code", str(made.exe), chain), crash)


def assert_all(padding: str, chain: str) -> None:
    require(OWN_CORES)
    in_file, loose = built(padding), built(padding, "-DLOOSE")
    (told,) = chains.of_core(died(in_file, chain), in_file.exe).values()
    assert {frame.trust for frame in told.frames} <= {"context", "cfi"}
    (trace,) = chains.of_core(died(loose, chain), loose.exe).values()
    listing = f"{padding} {chain}\n{chains.listing(trace)}\n{chains.listing(told)}"
    wanted = [in_file.place(frame.pc) for frame in chains.physical(told)]
    assert [loose.place(frame.pc) for frame in chains.physical(trace)] == wanted, listing
    assert "scan" not in {frame.trust for frame in trace.frames}, listing


@pytest.mark.parametrize("chains_of", [FRAMED, FRAMELESS, DYING], ids=["framed", "not", "dying"])
@pytest.mark.parametrize("padding", PADDINGS)
def test_methods(padding: str, chains_of: list[str]) -> None:
    for chain in chains_of:
        assert_all(padding, chain)


def test_methods_in_any_order() -> None:
    choice = random.Random(7)
    for _ in range(10):
        chain = "".join(choice.choices("abcdfhk", k=choice.randint(3, 14)))
        assert_all(choice.choice(PADDINGS), chain + choice.choice(["", "x", "y", "z"]))
