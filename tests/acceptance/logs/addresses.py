"""The true return addresses of one run, for logs whose writers cannot run here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from oracles.tools import run

from acceptance.logs.log_programs import Built, build, ran


@dataclass(frozen=True)
class Stack:
    """A program's own stack, innermost first, down to main; and where it lay."""

    built: Built
    path: Path  # it is gone
    base: int  # runtime address of its first byte
    code: tuple[int, int, int]  # runtime begin and end of its code, and the place in the file
    addresses: list[int]  # where calls return to
    maps: str
    build_id: str

    def links(self) -> list[int]:
        """The same as link addresses."""
        return [address - self.base for address in self.addresses]


def stack_of(place: Path, *flags: str) -> Stack:
    """Of a program that is moved, so that link addresses count from its first byte."""
    built = build("-DADDRESSES", *flags)
    log = ran(built, place / "ran", "x")
    mappings = re.findall(
        rf"^(\w+)-(\w+) (\S+) (\w+) \S+ \d+ +{re.escape(str(log.path))}$", log.text, re.MULTILINE
    )
    found = [int(word, 16) for word in re.findall(r"^stack word 0x(\w+)$", log.text, re.MULTILINE)]
    code = next(each for each in mappings if "x" in each[2])
    begin, end = int(code[0], 16), int(code[1], 16)
    inside = [address for address in found if begin <= address < end]
    told = re.search(r"Build ID: (\w+)", run(["readelf", "-n", str(built.full)]))
    assert told is not None
    return Stack(
        built=built,
        path=log.path,
        base=int(mappings[0][0], 16),
        code=(begin, end, int(code[3], 16)),
        addresses=inside[:4],  # of main too, not of _start
        maps=log.text.partition("stack word")[0],
        build_id=told[1],
    )
