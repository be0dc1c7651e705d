"""Code that no file holds: methods one behind the other in one mapping, as compilers make them at
run time, with and without frame pointers.

The oracle is the same code run in the program's own file, where tables tell of it: eu-stack's
chain there, the methods counted from the first.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import pytest
from artifact_cache import compilers, kept
from corpus.crash import crash
from oracles import eu_stack
from oracles.tools import run

from acceptance.helpers import chains

SOURCES = [Path(__file__).with_name(name) for name in ("loose_code.c", "loose_methods.S")]
COPIED_TO = 0x5E000000
MACHINES = ("-m64", "-m32")
PADDINGS = ("int3", "nop", "zero", "data", "none")
FRAMED = ["a", "b", "ab", "gabh", "hhhh", "bfbfb", "fa", "jaja", "abghj" * 6, "mamm"]
"""Frame pointers lead through all of these."""
FRAMELESS = ["c", "d", "i", "k", "cdik", "ffc", "ddddd", "kkk", "l", "llcl"]
MIXED = ["acbd", "dadbdg", "abcdefghikl", "eaea", "ecek", "jd", "bdbdbdj"]
LEAVES = ["ax", "cx", "dy", "fx", "gfy", "ex", "by", "jx", "abcdikx"]
AT_ENTRY = ["z", "mz", "aaz", "ggmbz", "cz"]


@dataclass(frozen=True)
class Build:
    """A program, stripped, and where its methods lie."""

    exe: Path
    methods: range

    def place(self, pc: int) -> int | None:
        """The bytes from the first method on; a miss outside of them."""
        copied = range(COPIED_TO, COPIED_TO + len(self.methods))
        begin = next((them.start for them in (self.methods, copied) if pc in them), None)
        return None if begin is None else pc - begin


def built(machine: str, padding: str, *flags: str) -> Build:
    options = [machine, "-w", "-O1", "-no-pie", "-fno-pie", f"-DPAD={padding}", *flags]

    def build(place: Path) -> Build:
        whole, exe = place / "whole", place / "program"
        run(["gcc", *options, *map(str, SOURCES), "-o", str(whole)])
        run(["strip", "-o", str(exe), str(whole)])
        begin, end = (
            int(line.split()[0], 16)
            for line in sorted(run(["nm", str(whole)]).splitlines())
            if " methods_" in line
        )
        return Build(exe, range(begin, end))

    return kept(("methods of loose code", options, *SOURCES, compilers("gcc")), build)


def died(made: Build, chain: str) -> Path:
    return kept(
        ("crash of loose code", str(made.exe), chain),
        lambda place: crash(made.exe, place, variables={"CHAIN": chain}),
    ).core


def true_places(machine: str, padding: str, chain: str) -> list[int | None]:
    made = built(machine, padding)
    said = eu_stack.of_core(died(made, chain), made.exe)
    assert said.complete
    (frames,) = said.threads.values()
    return [made.place(frame.pc) for frame in frames]


def assert_all(machine: str, padding: str, chain: str) -> None:
    made = built(machine, padding, "-DLOOSE")
    (trace,) = chains.of_core(died(made, chain), made.exe).values()
    listing = f"{machine} {padding} {chain}\n{chains.listing(trace)}"
    wanted = true_places(machine, padding, chain)
    assert [made.place(frame.pc) for frame in chains.physical(trace)] == wanted, listing
    assert "scan" not in {frame.trust for frame in trace.frames}, listing


@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("machine", MACHINES)
def test_methods_with_frame_pointers(machine: str, padding: str) -> None:
    for chain in FRAMED:
        assert_all(machine, padding, chain)


@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("machine", MACHINES)
def test_methods_without_frame_pointers(machine: str, padding: str) -> None:
    for chain in FRAMELESS + MIXED:
        assert_all(machine, padding, chain)


@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("machine", MACHINES)
def test_methods_that_die(machine: str, padding: str) -> None:
    for chain in LEAVES + AT_ENTRY:
        assert_all(machine, padding, chain)


@pytest.mark.parametrize("machine", MACHINES)
def test_methods_in_any_order(machine: str) -> None:
    choice = random.Random(5)
    for _ in range(10):
        chain = "".join(choice.choices("abcdefghiklm", k=choice.randint(3, 14)))
        assert_all(machine, choice.choice(PADDINGS), chain + choice.choice(["", "x", "y", "z"]))
