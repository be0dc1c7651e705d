"""What the cores of tests/stock's two shapes must show, frame by frame, by name and by address.

The oracle is the unstripped twin: its symbols say in which function a frame's pc lies, and its
disassembly says where each function goes on after it has called which other one. A frame is right
only at exactly such an address.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from oracles.tools import run
from stock import DeepCore, ManyThreadsCore

_LABEL = re.compile(r"^[0-9a-f]+ <([^>]+)>:$")
_INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t(?:call\s+[0-9a-f]+ <([^>]+)>)?")

LIBC = "libc.so.6"


@dataclass(frozen=True)
class Place:
    """A frame as every voice tells it: the base name of its module, and the pc's link address."""

    module: str
    rva: int


class Calls:
    """The return addresses of a program, by who calls whom."""

    def __init__(self, twin: Path) -> None:
        self._behind: dict[tuple[str, str], list[int]] = {}
        self._ends: dict[str, int] = {}
        function, called = "", ""
        for line in run(["objdump", "-d", "--no-show-raw-insn", str(twin)]).splitlines():
            if label := _LABEL.match(line):
                # A call that is a function's last instruction returns to where the padding is.
                function, called = label[1], ""
            elif found := _INSTRUCTION.match(line):
                if called:
                    behind = self._behind.setdefault((function, called), [])
                    behind.append(int(found[1], 16))
                called = (found[2] or "").partition("@")[0]

    def behind(self, caller: str, callee: str) -> int:
        """Where `caller` goes on after its only call of `callee`."""
        (address,) = self._behind[caller, callee]
        return address


def expected_of_many(made: ManyThreadsCore, calls: Calls) -> list[Place]:
    """A thread's own frames, innermost first, without the C library's around them."""
    levels = ["odd_level", "even_level"] * ((made.own_frames - 2) // 2)
    return _places(["pause", "innermost", *levels, "thread_main"], "many", calls)


def expected_of_deep(made: DeepCore, calls: Calls) -> list[Place]:
    """The crashed thread's own frames, innermost first."""
    outermost_first = ["wide_level", "narrow_level"] * (made.depth // 2 + 1)
    levels = outermost_first[: made.depth][::-1]
    return _places(["abort", "innermost", *levels, "thread_main"], "deep", calls)


def _places(chain: Sequence[str], module: str, calls: Calls) -> list[Place]:
    known: dict[tuple[str, str], Place] = {}
    places = []
    for pair in zip(chain[1:], chain):
        if pair not in known:
            known[pair] = Place(module, calls.behind(*pair))
        places.append(known[pair])
    return places


def check_chain(
    found: Sequence[Place], own: Sequence[Place], inside: range, outside: int = 2
) -> None:
    """The own frames stand complete and alone between the C library's: a number of them within
    `inside` before, exactly `outside` behind (start_thread and clone3).
    """
    first = next((at for at, place in enumerate(found) if place.module != LIBC), len(found))
    assert first in inside
    assert len(found) == first + len(own) + outside, (len(found), first, len(own))
    if list(found[first:-outside]) != list(own):  # pytest's own comparison takes minutes
        pairs = enumerate(zip(found[first:], own))
        raise AssertionError(next(pair for pair in pairs if pair[1][0] != pair[1][1]))
    assert {place.module for place in found[-outside:]} == {LIBC}
