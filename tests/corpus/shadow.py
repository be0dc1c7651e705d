"""Read the shadow stacks that programs/truth.h left in the memory of a core."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from corpus.build import Binaries, CorpusError
from corpus.catalog import SOURCES, Program
from corpus.corefile import Core
from corpus.names import ModuleMap

MAGIC = 0x7472757468
HEADER_WORDS = 4


@dataclass(frozen=True)
class Record:
    """One live activation: the function's name in the source, its frame's exact return address."""

    function: str
    return_address: int


@cache
def _recorded_names(source: Path) -> dict[int, str]:
    """Line of each TRUTH_ENTER or TRUTH_SCOPE -> the name given there."""
    found = {}
    for number, line in enumerate(source.read_text().splitlines(), 1):
        match = re.search(r"TRUTH_(?:ENTER|SCOPE)\((\w+)\)", line)
        if match:
            found[number] = match[1]
    return found


def recorded_functions(program: Program) -> set[str]:
    """The functions that may not be on the stack without a record."""
    names = set(_recorded_names(SOURCES / program.source).values())
    if program.library is not None:
        names |= set(_recorded_names(SOURCES / program.library).values())
    return names - program.unrecorded


def read_shadows(
    core: Core, program: Program, binaries: Binaries, modules: ModuleMap
) -> dict[int, list[Record]]:
    """The records of each thread by its tid, innermost first.

    Slots are never used twice, so no tid is that of an earlier thread.
    """
    module = modules.exe_module(binaries.exe)
    registry = module.full.objects["truth_registry"].start + module.bias
    magic, depth_limit, thread_limit, used = core.words(registry, HEADER_WORDS)
    if magic != MAGIC % 2 ** (8 * core.word):
        raise CorpusError(f"{core.path}: no truth registry at {registry:#x}")
    if used > thread_limit:
        raise CorpusError(f"{core.path}: more threads than the registry holds")
    sources = [SOURCES / program.source] + ([SOURCES / program.library] if program.library else [])
    shadows = {}
    for slot in range(used):
        base = registry + (HEADER_WORDS + slot * (2 + 2 * depth_limit)) * core.word
        tid, depth = core.words(base, 2)
        if depth > depth_limit:
            raise CorpusError(
                f"{core.path}: a shadow stack of {depth} records overran its {depth_limit}"
            )
        words = core.words(base + 2 * core.word, 2 * depth)
        records = [
            Record(_recorded_names(sources[where >> 16])[where & 0xFFFF], address)
            for where, address in zip(words[::2], words[1::2], strict=True)
        ]
        shadows[tid] = records[::-1]
    return shadows
