"""The kinds of damage to stacks and registers: made-up chains, patterns, other return addresses."""

from __future__ import annotations

import random
from array import array

from mutations.kinds import CORE, KINDS, WORDS, Change, Changes, few
from mutations.layout import Layout, Stack


def _words(layout: Layout) -> array[int]:
    return array("Q" if layout.word == 8 else "I")


def code_address(chance: random.Random, layout: Layout) -> int:
    """A true return address, another one, or a place near one."""
    if layout.true_returns and chance.random() < 0.4:
        return layout.returns[chance.randrange(layout.true_returns)]
    address = chance.choice(layout.returns)
    return address if chance.random() < 0.8 else address + chance.randrange(-64, 64)


def anything(chance: random.Random, layout: Layout, stack: Stack) -> int:
    """A word as stacks hold them."""
    how = chance.randrange(5)
    if how == 0:
        return chance.choice(WORDS)
    if how == 1:
        return chance.getrandbits(8 * layout.word)
    if how == 2:
        return stack.part.address + chance.randrange(0, len(stack.part), layout.word)
    return code_address(chance, layout)


def _fit(layout: Layout, value: int) -> int:
    return value & ((1 << 8 * layout.word) - 1)


def registers(chance: random.Random, layout: Layout) -> Changes:
    """pc, sp and fp of threads."""
    for _ in range(few(chance, 6)):
        at, value = chance.choice(layout.registers)
        stack = chance.choice(layout.stacks)
        near = value + chance.choice((1, -1, 8, -8, 16, -4096, 4096))
        new = chance.choice((near, anything(chance, layout, stack)))
        yield Change(CORE, at, layout.pack(new))


def stack_words(chance: random.Random, layout: Layout) -> Changes:
    """Single words of a stack, more often near its top."""
    stack = chance.choice(layout.stacks)
    for _ in range(few(chance, 256)):
        reach = few(chance, len(stack.part) // layout.word)
        at = stack.part.begin + chance.randrange(reach) * layout.word
        yield Change(CORE, at, layout.pack(anything(chance, layout, stack)))


def stack_returns(chance: random.Random, layout: Layout) -> Changes:
    """Words that are code addresses become other ones."""
    stack = chance.choice(layout.stacks)
    data = layout.core.data[stack.part.begin : stack.part.end]
    known = {layout.pack(each) for each in layout.returns[: layout.true_returns]}
    places = [
        at for at in range(0, len(data) - layout.word, layout.word)
        if data[at : at + layout.word] in known
    ]  # fmt: skip
    share = chance.choice((0.05, 0.3, 1.0))
    few_addresses = [code_address(chance, layout) for _ in range(few(chance, 32))]
    for at in places:
        if chance.random() < share:
            yield Change(CORE, stack.part.begin + at, layout.pack(chance.choice(few_addresses)))


def _room(chance: random.Random, layout: Layout, stack: Stack) -> tuple[int, int]:
    """Where damage begins, in words from the stack pointer, and how many words it has."""
    size = len(stack.part) // layout.word
    begin = chance.choice((0, 0, few(chance, 64), few(chance, size) - 1))
    begin = min(begin, size - 1)
    rest = size - begin
    return begin, chance.choice((rest, rest, few(chance, rest)))


def stack_pattern(chance: random.Random, layout: Layout) -> Changes:
    """A few words again and again, up to the whole stack; or seldom among others."""
    stack = chance.choice(layout.stacks)
    begin, count = _room(chance, layout, stack)
    period = chance.choice((1, 1, 2, 3, 4, 8, few(chance, 64), few(chance, 4096)))
    filling = chance.choice((0, 0, chance.getrandbits(16), stack.part.address))
    share = chance.choice((1.0, 0.5, 2 / period))
    cycle = [
        anything(chance, layout, stack) if chance.random() < share else filling
        for _ in range(period)
    ]
    words = _words(layout)
    words.extend(_fit(layout, cycle[i % period]) for i in range(count))
    yield Change(CORE, stack.part.begin + begin * layout.word, words.tobytes())


def _point_to(layout: Layout, stack: Stack, first: int, pc: int | None) -> Changes:
    """The thread's frame pointer becomes the first link."""
    sp = stack.part.address
    for at, value in layout.registers:
        if value == stack.fp and stack.fp:
            yield Change(CORE, at, layout.pack(first))
    if pc is not None:
        index = next((i for i, (_, value) in enumerate(layout.registers) if value == sp), 0)
        if index:
            yield Change(CORE, layout.registers[index - 1][0], layout.pack(pc))


def frame_chain(chance: random.Random, layout: Layout) -> Changes:
    """A made-up chain of frame pointers over much of a stack, with any return addresses."""
    stack = chance.choice(layout.stacks)
    begin, count = _room(chance, layout, stack)
    begin = max(begin, 2)
    stride = chance.choice((2, 2, 3, 4, 6, 8, 16, few(chance, 256)))
    codes = [code_address(chance, layout) for _ in range(few(chance, 16))]
    filling = chance.choice(("zero", "code", "stack", "old"))
    words = _words(layout)
    data = layout.core.data[stack.part.begin : stack.part.end]
    words.frombytes(data[: len(data) // layout.word * layout.word])
    links = range(begin, min(begin + count, len(words)) - 2 * stride, stride)
    for number, at in enumerate(links):
        words[at] = stack.part.address + (at + stride) * layout.word
        words[at + 1] = _fit(layout, codes[number % len(codes)])
        for i in range(at + 2, at + stride) if filling != "old" else ():
            if filling == "zero":
                words[i] = 0
            elif filling == "code":
                words[i] = _fit(layout, chance.choice(codes))
            else:
                words[i] = stack.part.address + chance.randrange(0, len(stack.part), layout.word)
    first = stack.part.address + begin * layout.word
    pc = code_address(chance, layout) if chance.random() < 0.6 else None
    yield from _point_to(layout, stack, first, pc)
    yield Change(CORE, stack.part.begin, words.tobytes())


def stack_copied(chance: random.Random, layout: Layout) -> Changes:
    """Pieces of a stack stand elsewhere on it too, once or up to its end."""
    stack = chance.choice(layout.stacks)
    data = layout.core.data[stack.part.begin : stack.part.end]
    size = len(data) // layout.word
    for _ in range(few(chance, 4)):
        begin, to = chance.randrange(size), chance.randrange(size)
        piece = data[begin * layout.word :][: few(chance, 2048) * layout.word]
        times = chance.choice((1, 1, few(chance, 1000)))
        yield Change(CORE, stack.part.begin + to * layout.word,
                     (piece * times)[: (size - to) * layout.word])  # fmt: skip


for _each in (registers, stack_words, stack_returns, stack_pattern, frame_chain, stack_copied):
    KINDS[_each.__name__.replace("_", "-")] = _each

HEAVY = ("frame-chain", "stack-pattern", "stack-returns", "stack-words")
"""What is asked for more often: walks are what takes long."""
