"""A hundred thousand frames: numbers, speed and the pager; test_interrupts.py has Ctrl-C."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pexpect
import pytest
from programs import Crash
from sessions import batch
from terminals import PAGER, PROMPT, alive, page, terminal

FRAMES = 100_000


def timed(command: str) -> str:
    return (
        f"python t = time.time(); gdb.execute({command!r}, to_string=True); "
        "print('took', time.time() - t)"
    )


def test_every_frame_has_its_number_and_a_few_do_not_cost_the_whole_walk(deep: Crash) -> None:
    before = ["python import time", *map(timed, ("whocall bt 1", "whocall bt 3", "whocall"))]
    said = batch(["echo {deep}\\n", *before, "whocall bt -no-fold"], [deep.exe, deep.core])
    lines = said.out.split("{deep}\n")[1].splitlines()
    _, *few = [float(line.split()[1]) for line in lines if line.startswith("took ")]
    assert len(few) == 2 and max(few) < 0.5
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
