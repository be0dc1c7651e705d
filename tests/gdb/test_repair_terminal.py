"""Repair as a person has it on a terminal: it lasts over runs of the program, Ctrl-C ends it, and
revert takes it back.
"""

from __future__ import annotations

from pathlib import Path

import pexpect
import pytest
from programs import Crash
from terminals import PROMPT, terminal
from test_interrupts import interrupted, know_how_to_hold


def answer(child: pexpect.spawn, command: str) -> str:
    """What a command printed; gdb's questions are answered with yes."""
    child.sendline(command)
    said = ""
    while child.expect_exact([PROMPT, "(y or n)"]) == 1:
        said += child.before
        child.sendline("y")
    return str(said + child.before).replace("\r", "")


def functions(backtrace: str) -> list[str]:
    """The names in gdb's backtrace, innermost first."""
    lines = [line.split() for line in backtrace.splitlines() if line.startswith("#")]
    return [words[words.index("in") + 1] if "in" in words else words[1] for words in lines]


@pytest.fixture
def session(chain: Crash, tmp_path: Path) -> pexpect.spawn:
    return terminal(chain, XDG_CACHE_HOME=str(tmp_path))


def test_repair_lasts_over_runs_until_it_is_reverted(session: pexpect.spawn) -> None:
    own = functions(answer(session, "bt"))
    assert "now it has all" in answer(session, "whocall repair")
    repaired = functions(answer(session, "bt"))
    assert repaired[0].startswith("sub_") and repaired[-1] == "main" and "??" not in repaired
    for _ in range(2):
        assert "SIGSEGV" in answer(session, "run")
        assert functions(answer(session, "bt")) == repaired
    answer(session, f"break {repaired[1]}")
    assert f"in {repaired[1]} ()" in answer(session, "run")
    assert functions(answer(session, "bt")) == repaired[1:]
    assert "its own frames again" in answer(session, "whocall revert")
    assert repaired[1] not in answer(session, "bt")
    answer(session, "delete")
    assert "SIGSEGV" in answer(session, "continue")
    assert functions(answer(session, "bt"))[:2] == own[:2]
    session.close(force=True)


def test_ctrl_c_ends_a_repair(deep: Crash, tmp_path: Path) -> None:
    child = terminal(deep, XDG_CACHE_HOME=str(tmp_path))
    know_how_to_hold(child)
    for call in (200, 50_000, 100_000):  # of three hundred thousand
        interrupted(child, "whocall repair", call)
    child.close(force=True)
