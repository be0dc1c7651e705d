"""Memory that means nothing yields no frames: what walks invent on random stacks.

Nothing but frame 0 is true there, so no oracle is needed. The first four kinds have an upper bound,
over all their walks together; the others are made of what callers look like and are only printed.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

import whocall
from acceptance.helpers import chains
from acceptance.helpers.scoreboard import Scoreboard
from acceptance.helpers.stockcores import StockCores
from acceptance.stacks.randomstacks import (
    BELOW,
    NOWHERE,
    PAGE,
    REGIONS_APART,
    REGISTERS,
    STACK,
    WORD,
    MadeUp,
    RealMemory,
    on_stack_of,
    pages,
    region,
)
from whocall.base.process_image import ProcessImage

WORDS = (BELOW + STACK) // WORD
WALKS = 150
"""Of each kind on each program."""
LONG_WALKS = 10
"""The same for kinds that mean something and lead on for hundreds of frames."""
MOST_INVENTED = 0.1
"""Frames a walk, on average."""


def _noise(real: RealMemory) -> list[int]:
    return [real.chance.getrandbits(64) for _ in range(WORDS)]


def _noise_under_code(number: int, real: RealMemory) -> MadeUp:
    return on_stack_of(number, real.code_address(), _noise(real), real.chance)


def _noise_under_nowhere(number: int, real: RealMemory) -> MadeUp:
    return on_stack_of(number, real.chance.choice(NOWHERE), _noise(real), real.chance)


def _noise_under_noise(number: int, real: RealMemory) -> MadeUp:
    """The code itself is random."""
    begin = region(number) + REGIONS_APART // 2
    pc = begin + real.chance.randrange(PAGE)
    thread = on_stack_of(number, pc, _noise(real), real.chance)
    return replace(thread, code=pages(begin, real.chance.randbytes(PAGE)))


def _code_addresses(number: int, real: RealMemory) -> MadeUp:
    stack = [real.code_address() for _ in range(WORDS)]
    return on_stack_of(number, real.code_address(), stack, real.chance)


def _return_addresses(number: int, real: RealMemory) -> MadeUp:
    stack = real.chance.choices(real.return_addresses, k=WORDS)
    return on_stack_of(number, real.code_address(), stack, real.chance)


def _shuffled(number: int, real: RealMemory) -> MadeUp:
    """The words above a real thread's stack pointer in any order: pointers, sizes, leftovers."""
    sp = real.process.threads[0].sp
    words = array("Q", real.process.read(sp, WORDS * WORD))
    stack = real.chance.choices(words, k=WORDS)
    return on_stack_of(number, real.code_address(), stack, real.chance)


def _noise_in_registers(number: int, real: RealMemory) -> MadeUp:
    """A thread of the core itself, of which only pc and sp are as they were."""
    thread = real.process.threads[number % len(real.process.threads)]
    registers = {name: real.chance.getrandbits(64) for name in REGISTERS}
    return MadeUp(registers | {"rip": thread.pc, "rsp": thread.sp, "eflags": 0x246})


@dataclass(frozen=True)
class Kind:
    """How threads are made up; the bound holds for what is meaningless altogether."""

    what: str
    make: Callable[[int, RealMemory], MadeUp]
    meaningless: bool = True


KINDS = (
    Kind("random words, pc in real code", _noise_under_code),
    Kind("random words, pc in no mapping", _noise_under_nowhere),
    Kind("random words, pc in random code", _noise_under_noise),
    Kind("random registers, real stack", _noise_in_registers),
    Kind("words of a real stack, shuffled", _shuffled, meaningless=False),
    Kind("nothing but addresses in code", _code_addresses, meaningless=False),
    Kind("nothing but return addresses", _return_addresses, meaningless=False),
)


def _invented(image: ProcessImage, count: int, walk: whocall.Walk, true: list[set[int]]) -> int:
    """Frames of all walks that are neither frame 0 nor among the thread's true pcs."""
    frames = 0
    for index in range(count):
        trace = image.backtrace(index, walk)
        assert trace.stop.reason != "frame-limit", chains.listing(trace)
        frames += sum(pc not in true[index % len(true)] for pc in chains.pcs(trace)[1:])
    return frames


@pytest.mark.parametrize("name", ["bash", "python3"])
def test_random_stacks(name: str, stock_cores: StockCores, scoreboard: Scoreboard) -> None:
    """Every walk ends, and what it invents on stacks without a meaning is next to nothing."""
    stock = stock_cores.core(name)
    rows = scoreboard.table(
        "Random stacks: frames invented a walk", "kind", "program", "walks", "with tables", "hidden"
    ).rows
    most = WORDS + 1  # each frame moves up by a word at least
    ways = [
        whocall.Walk(max_frames=most, past_main=True, lines=False, without=without)
        for without in ((), ("cfi",))
    ]
    frames, walks = 0, 0
    with whocall.open_core(str(stock.core), str(stock.exe)) as core:
        chains_of_core = [
            set(chains.pcs(core.backtrace(at, whocall.Walk(past_main=True))))
            for at in range(len(core.threads))
        ]
        for kind in KINDS:
            real = RealMemory(core.native, random.Random(f"{name}: {kind.what}"))
            count = WALKS if kind.meaningless else LONG_WALKS
            made = [kind.make(number, real) for number in range(count)]
            true = chains_of_core if kind.make is _noise_in_registers else [set[int]()]
            with ProcessImage(real.image(made)) as image:
                invented = [_invented(image, count, walk, true) for walk in ways]
            rows.append((kind.what, name, count, *(each / count for each in invented)))
            if kind.meaningless:
                frames, walks = frames + sum(invented), walks + len(ways) * count
    assert frames / walks < MOST_INVENTED
