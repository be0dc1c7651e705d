"""What is known of each thread: the return addresses that the program itself recorded.

Between two functions of the program others may stand (qsort, a signal's trampoline, what called
main): how many, the record does not tell. There a chain may have frames that nobody judges, as long
as they are not functions that would have left a record.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from corpus.catalog import SOURCES, Program
from corpus.shadow import HEADER_WORDS, MAGIC, recorded_functions

from ports.elf import EXECUTABLE, Core, Elf


@dataclass(frozen=True)
class Record:
    """A live activation of one of the program's functions."""

    function: str
    return_address: int
    lost: bool
    """Whether the return address stands nowhere any more but in the record: it was overwritten."""


@dataclass(frozen=True)
class ThreadTruth:
    """One thread."""

    tid: int
    pc: int
    records: tuple[Record, ...]
    """Innermost first."""
    bias: int
    twin: Elf
    recorded: frozenset[str]
    core: Core

    def is_code(self, pc: int) -> bool:
        """Whether it can be executed, by the core's headers."""
        segment = self.core.segment_at(pc)
        return segment is not None and bool(segment.flags & EXECUTABLE)

    def function_at(self, pc: int) -> str | None:
        """The function of the program, by its source, that a return address (or pc) lies in."""
        return source_name(self.twin.function_at(pc - self.bias))

    def into_function(self, pc: int) -> int | None:
        """How many bytes it stands behind the function's start."""
        symbol = self.twin.function_around(pc - self.bias)
        return None if symbol is None else pc - self.bias - symbol.start


def source_name(symbol: str | None) -> str | None:
    """A function's name in its source: clones and mangled names hold it."""
    if symbol is None:
        return None
    mangled = re.match(r"_ZN?K?(?:L?\d+[A-Za-z_]+)*?(\d+)([A-Za-z_]\w*)", symbol)
    if mangled is None:
        return symbol.split(".", 1)[0]
    last, text = symbol, symbol[2:].lstrip("NKL")
    while (number := re.match(r"L?(\d+)", text)) is not None:
        size = int(number[1])
        last = text[number.end() : number.end() + size]
        text = text[number.end() + size :]
    return last


@cache
def recorded_names(source: Path) -> dict[int, str]:
    """Line of each TRUTH_ENTER or TRUTH_SCOPE -> the name given there."""
    found = {}
    for number, line in enumerate(source.read_text().splitlines(), 1):
        match = re.search(r"TRUTH_(?:ENTER|SCOPE)\((\w+)\)", line)
        if match:
            found[number] = match[1]
    return found


def _lost(addresses: list[int], core: Core, registry: range) -> list[bool]:
    """Which return addresses, innermost first, stand nowhere any more outside the registry.

    Of a recursion's equal ones as many as there are too few, and those the innermost: what is
    overwritten lies next to the crash.
    """
    standing = {
        address: sum(place not in registry for place in core.places_of(address))
        for address in set(addresses)
    }
    kept = []
    for address in reversed(addresses):
        standing[address] -= 1
        kept.append(standing[address] >= 0)
    return [not one for one in reversed(kept)]


def truth_of(core: Core, twin: Elf, program: Program, pc_at: int) -> list[ThreadTruth]:
    """All threads; LookupError where the registry is not there."""
    bias = (core.auxiliary[9] & ~1) - (twin.entry & ~1)
    registry = twin.address_of("truth_registry") + bias
    magic, depth_limit, thread_limit, used = core.words(registry, HEADER_WORDS)
    if magic != MAGIC % (1 << 8 * core.word) or used > thread_limit:
        raise LookupError(f"{core.path}: no truth registry at {registry:#x}")
    stride = (2 + 2 * depth_limit) * core.word
    size = HEADER_WORDS * core.word + thread_limit * stride
    names = recorded_names(SOURCES / program.source)
    damaged = program.name.startswith(("overwritten", "return_smashed"))
    shadows = {}
    for slot in range(used):
        base = registry + HEADER_WORDS * core.word + slot * stride
        tid, depth = core.words(base, 2)
        words = core.words(base + 2 * core.word, 2 * min(depth, depth_limit))
        addresses = list(words[1::2])[::-1]
        lost = _lost(addresses, core, range(registry, registry + size)) if damaged else []
        lost = lost or [False] * len(addresses)
        functions = [names[where] for where in words[::2]][::-1]
        shadows[tid] = tuple(map(Record, functions, addresses, lost))
    recorded = frozenset(recorded_functions(program))
    return [
        ThreadTruth(
            thread.tid,
            thread.pc,
            shadows.get(thread.tid, ()),
            bias,
            twin,
            recorded,
            core,
        )
        for thread in core.threads(pc_at)
    ]
