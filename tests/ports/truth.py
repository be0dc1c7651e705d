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

from ports.elf import EXECUTABLE, Core, Elf
from ports.matrix import Program

HEADER_WORDS = 4
MAGIC = 0x7472757468


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
    signal: int
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


def _stands_on_a_stack(core: Core, registry: int, size: int, address: int) -> bool:
    """Whether the address stands in writable memory outside the registry.

    A leaf's return address is in a register. Asked only of overwritten stacks, and there the
    innermost frame is never asked about.
    """
    needle = address.to_bytes(core.word, "little" if core.order == "<" else "big")
    for segment in core.segments:
        if segment.kind != 1 or not segment.flags & 2:
            continue
        data = core.data[segment.offset : segment.offset + segment.file_size]
        at = data.find(needle)
        while at >= 0:
            if not registry <= segment.address + at < registry + size:
                return True
            at = data.find(needle, at + 1)
    return False


def truth_of(core: Core, twin: Elf, program: Program, pc_at: int) -> list[ThreadTruth]:
    """All threads; LookupError where the registry is not there."""
    bias = (core.auxiliary[9] & ~1) - (twin.entry & ~1)
    registry = twin.address_of("truth_registry") + bias
    magic, depth_limit, thread_limit, used = core.words(registry, HEADER_WORDS)
    if magic != MAGIC % (1 << 8 * core.word) or used > thread_limit:
        raise LookupError(f"{core.path}: no truth registry at {registry:#x}")
    stride = (2 + 2 * depth_limit) * core.word
    size = HEADER_WORDS * core.word + thread_limit * stride
    names = recorded_names(program.source)
    damaged = program.name.startswith(("overwritten", "return_smashed"))
    shadows = {}
    for slot in range(used):
        base = registry + HEADER_WORDS * core.word + slot * stride
        tid, depth = core.words(base, 2)
        words = core.words(base + 2 * core.word, 2 * min(depth, depth_limit))
        records = [
            Record(
                names[where],
                address,
                damaged and not _stands_on_a_stack(core, registry, size, address),
            )
            for where, address in zip(words[::2], words[1::2], strict=True)
        ]
        shadows[tid] = tuple(records[::-1])
    recorded = frozenset(names.values()) - program.unrecorded
    return [
        ThreadTruth(
            thread.tid,
            thread.signal,
            thread.pc,
            shadows.get(thread.tid, ()),
            bias,
            twin,
            recorded,
            core,
        )
        for thread in core.threads(pc_at)
    ]
