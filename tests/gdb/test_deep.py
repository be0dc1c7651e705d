"""A hundred thousand frames: numbers, how far it walks, the pager; Ctrl-C: test_interrupts.py."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pexpect
import pytest
from programs import Crash
from sessions import batch
from terminals import PAGER, PROMPT, alive, page, terminal

FRAMES = 100_000


# How many frames each walk finds, noted where they become Python's.
COUNTING = """
import whocall.base.process_image as image
walked, made = [], image.TraceList
def counting(found, *others):
    walked.extend(len(found.trace(at)[0]) for at in range(len(found)))
    return made(found, *others)
image.TraceList = counting
"""


def test_every_frame_has_its_number_and_a_few_do_not_cost_the_whole_walk(deep: Crash) -> None:
    few = ["whocall bt 1", "whocall bt 3", "whocall"]
    commands = ["set whocall helper off", f"python\n{COUNTING.strip()}", *few,
                "echo {deep}\\n", "whocall bt -no-fold",
                "python print('walked', *walked)"]  # fmt: skip
    said = batch(commands, [deep.exe, deep.core])
    lines = said.out.split("{deep}\n")[1].splitlines()
    *of_few, of_all = sorted(map(int, lines[-1].split()[1:]))
    assert len(of_few) >= 2 and max(of_few) < 100
    assert of_all > FRAMES
    heads = [re.match(r"#(\d+) +0x", line) for line in lines if line.startswith("#")]
    assert len(heads) > FRAMES
    assert [int(head.group(1)) for head in heads if head] == list(range(len(heads)))


@pytest.fixture(scope="module")
def paged(deep: Crash) -> Iterator[pexpect.spawn]:
    """Some thousand frames: what is shown first waits until all are known."""
    child = terminal(deep, "-iex", "set backtrace limit 5000")
    child.sendline("set whocall max-frames 5000")
    child.expect_exact(PROMPT)
    page(child, 24)
    yield child
    child.close(force=True)


@pytest.mark.parametrize("command", ["whocall bt -no-fold", "whocall bt -json", "whocall compare"])
def test_q_at_the_pager_gives_the_prompt_back(paged: pexpect.spawn, command: str) -> None:
    paged.sendline(command)
    paged.expect_exact(PAGER)
    paged.send("\r")
    paged.expect_exact(PAGER)
    paged.sendline("q")
    alive(paged)
