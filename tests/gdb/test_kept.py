"""Ctrl-C between any two of the steps that change gdb for a while and put it back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from programs import Crash
from sessions import batch
from terminals import said_at_prompt, terminal

STEPS = """
import sys
FILES = ("/contextlib.py", "/host/kept.py")
BLOCKS = ("selection_kept", "past_main", "put_back")
def interrupted_at(last, command):
    taken = 0
    def trace(frame, event, unused):
        nonlocal taken
        code = frame.f_code
        if code.co_filename.endswith(FILES) or code.co_name in BLOCKS:
            taken += 1
            if taken == last:
                raise KeyboardInterrupt
        return trace
    sys.settrace(trace)
    try:
        gdb.execute(command, to_string=True)
    except (KeyboardInterrupt, gdb.error):
        pass
    finally:
        sys.settrace(None)
    print("ended", "behind" if taken < last else "before", "its end")
"""
STATE = ("thread", "frame", "show backtrace past-main")
# Without the line of the source: that there is no such file, gdb says anew after each file of
# symbols that goes.
QUIET = ("set style enabled off", "set print frame-info location")
MOST = 2000


@pytest.mark.parametrize("command", ["whocall compare -all", "whocall repair"])
def test_every_step(command: str, workers: Crash, tmp_path: Path) -> None:
    script = tmp_path / "steps.py"
    script.write_text(STEPS)
    child = terminal(workers)
    for line in (f"source {script}", *QUIET, "thread 3", "up"):
        said_at_prompt(child, line)
    before = [said_at_prompt(child, line) for line in STATE]
    for step in range(1, MOST):
        said = said_at_prompt(child, f'python interrupted_at({step}, "{command}")')
        ended = re.search(r"ended (\w+) its end\r\n$", said)
        assert ended, said
        if command == "whocall repair":
            said_at_prompt(child, "whocall revert")
        assert [said_at_prompt(child, line) for line in STATE] == before, step
        if ended[1] == "behind":
            break
    assert 20 < step < MOST - 1
    child.close(force=True)


WITHIN = """
python
from whocall.gdb.target.frames import past_main
with past_main():
    gdb.execute("whocall bt", to_string=True)
    print("within", gdb.parameter("backtrace past-main"))
print("behind", gdb.parameter("backtrace past-main"))
end
"""


def test_a_command_within_a_block_leaves_it_as_it_is(workers: Crash, tmp_path: Path) -> None:
    """As of a hook of the user's that runs while a command walks."""
    script = tmp_path / "within.gdb"
    script.write_text(WITHIN)
    said = batch([f"source {script}"], [workers.exe, workers.core])
    assert "within True\nbehind False\n" in said.out, said
