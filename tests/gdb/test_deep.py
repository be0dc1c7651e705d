"""A hundred thousand frames: numbers, speed, Ctrl-C and the pager."""

from __future__ import annotations

import re
import time

import pexpect
import pytest
from answers import text
from programs import Crash
from terminals import PAGER, PROMPT, terminal

FRAMES = 100_000


def test_every_frame_has_its_number_and_a_blank_behind_it(deep: Crash) -> None:
    lines = [line for line in text("whocall bt", deep) if line.startswith("#")]
    assert len(lines) > FRAMES
    heads = [re.match(r"#(\d+) +0x", line) for line in lines]
    assert [int(head.group(1)) for head in heads if head] == list(range(len(lines)))


@pytest.mark.parametrize("command", ["whocall bt 3", "whocall"])
def test_a_few_frames_do_not_cost_the_whole_walk(deep: Crash, command: str) -> None:
    timed = (
        "python import time; gdb.execute('whocall bt 1', to_string=True); t = time.time(); "
        f"gdb.execute('{command}'); print('took', time.time() - t)"
    )
    assert float(text(timed, deep)[-1].split()[1]) < 0.5


def alive(child: pexpect.spawn) -> None:
    """The prompt is back, no traceback was shown, and gdb goes on."""
    child.expect_exact(PROMPT)
    assert "Traceback" not in child.before
    child.sendline("echo still \\n")
    child.expect_exact("\nstill ")
    child.expect_exact(PROMPT)


@pytest.mark.parametrize("command", ["whocall bt", "whocall bt -json", "whocall compare"])
def test_ctrl_c_gives_the_prompt_back(deep: Crash, command: str) -> None:
    child = terminal(deep, "-ex", "set height 0")
    child.sendline(command)
    child.expect_exact(command)
    time.sleep(0.3)
    child.sendintr()
    child.expect_exact("Quit")
    alive(child)
    child.close(force=True)


@pytest.mark.parametrize("command", ["whocall bt", "whocall bt -json", "whocall compare"])
def test_q_at_the_pager_gives_the_prompt_back(deep: Crash, command: str) -> None:
    child = terminal(deep, "-ex", "set height 24")
    child.sendline(command)
    child.expect_exact(PAGER)
    child.send("\r")
    child.expect_exact(PAGER)
    child.sendline("q")
    alive(child)
    child.close(force=True)
