"""On a terminal: the greeting, TAB, colours, the pager's q, Ctrl-C."""

from __future__ import annotations

import pexpect
import pytest
from programs import Crash
from terminals import PAGER, PROMPT, terminal


@pytest.fixture
def gdb(chain: Crash):
    child = terminal(chain, "-ex", "set height 0")
    yield child
    child.close(force=True)


def test_the_banner_and_a_backtrace(gdb: pexpect.spawn) -> None:
    gdb.sendline("whocall bt")
    gdb.expect_exact("#0  0x")
    gdb.expect_exact("[context]")
    gdb.expect_exact(PROMPT)


def test_tab_completes(gdb: pexpect.spawn) -> None:
    gdb.send("whocall bt -pas\t")
    gdb.expect_exact("t-main")
    gdb.sendcontrol("c")


def test_the_pagers_q_stops_a_command_at_once(chain: Crash) -> None:
    child = terminal(chain, "-ex", "set height 10")
    child.sendline("whocall functions")
    child.expect_exact(PAGER)
    child.sendline("q")
    child.expect_exact(PROMPT)
    assert "Traceback" not in child.before
    child.sendline("echo alive\\n")
    child.expect_exact("\nalive")
    child.close(force=True)


def test_colours_follow_gdbs_styles(chain: Crash) -> None:
    child = terminal(chain, "-ex", "set height 0", term="xterm-256color")
    child.sendline("set style enabled on")
    child.sendline("set style function foreground red")
    child.sendline("whocall symbol qsort")
    child.expect_exact("\x1b[31mqsort")
    child.sendline("set style enabled off")
    child.sendline("whocall symbol qsort")
    child.expect_exact(" is qsort (+0)")
    child.close(force=True)
