"""On a terminal: the greeting, TAB, colours, the pager's q and c, Ctrl-C."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
from programs import Crash
from terminals import PAGER, PROMPT, alive, page, terminal


@pytest.fixture(scope="module")
def gdb(chain: Crash) -> Iterator[pexpect.spawn]:
    """Each test leaves it at its prompt, without a pager."""
    child = terminal(chain)
    yield child
    child.close(force=True)


@pytest.fixture(scope="module")
def coloured(chain: Crash) -> Iterator[pexpect.spawn]:
    """On a terminal that has colours, with a style of the user's."""
    child = terminal(chain, term="xterm-256color")
    for command in ("set style enabled on", "set style function intensity bold"):
        answer(child, command)
    yield child
    child.close(force=True)


def answer(child: pexpect.spawn, command: str) -> str:
    """All that is printed up to the next prompt."""
    child.sendline(command)
    child.expect_exact(command)
    child.expect_exact(PROMPT)
    return str(child.before)


def style_of(word: str, said: str) -> str:
    """The sequence right before a word."""
    match = re.search(rf"\x1b\[([0-9;]+)m{re.escape(word)}\x1b\[0?m", said)
    assert match is not None, repr(said)
    return match.group(1)


def test_the_banner_and_a_backtrace(gdb: pexpect.spawn) -> None:
    gdb.sendline("whocall bt")
    gdb.expect_exact("#0  0x")
    gdb.expect_exact("[context]")
    alive(gdb)


def test_tab_completes(gdb: pexpect.spawn) -> None:
    gdb.send("whocall bt -pas\t")
    gdb.expect_exact("t-main")
    gdb.sendcontrol("c")
    alive(gdb)


def test_the_pagers_q_stops_a_command_at_once(gdb: pexpect.spawn) -> None:
    page(gdb, 10)
    gdb.sendline("whocall functions")
    gdb.expect_exact(PAGER)
    gdb.sendline("q")
    alive(gdb)
    page(gdb, 0)


def test_c_at_the_pager_goes_on_to_the_end(gdb: pexpect.spawn) -> None:
    page(gdb, 10)
    gdb.sendline("whocall bt -explain")
    gdb.expect_exact(PAGER)
    gdb.sendline("c")
    gdb.expect_exact("The frames that called main are left out.")
    assert PAGER not in gdb.before
    alive(gdb)
    page(gdb, 0)


def test_colours_are_those_of_gdbs_own_backtrace(coloured: pexpect.spawn) -> None:
    """From gdb 18 on its terminal writes every attribute of a style, ours and its own alike."""
    own, ours = answer(coloured, "bt 1"), answer(coloured, "whocall bt 1")
    style = style_of("??", own)
    assert {"33", "1"} <= set(style.split(";"))
    assert style_of(re.findall(r"sub_\w+", ours)[0], ours) == style
    address = re.findall(r"0x\w+", own)[0]
    assert style_of(address, ours) == style_of(address, own)


def test_colours_follow_gdbs_styles(coloured: pexpect.spawn) -> None:
    answer(coloured, "set style function foreground red")
    assert "31" in style_of("qsort", answer(coloured, "whocall symbol qsort")).split(";")
    answer(coloured, "set style enabled off")
    assert " is qsort (+0)" in answer(coloured, "whocall symbol qsort")
    answer(coloured, "set style enabled on")


def test_no_colour_but_on_the_terminal(coloured: pexpect.spawn, tmp_path: Path) -> None:
    answer(coloured, f"set logging file {tmp_path / 'log'}")
    assert "\x1b[" in answer(coloured, "whocall bt 1").partition("#0")[2]
    ask = "python s = gdb.execute('whocall bt 1', to_string=True); print('colours', '\\x1b' in s)"
    assert "colours False" in answer(coloured, ask)
    coloured.sendline("pipe whocall bt 1 | cat -v | tr '^' '@'; echo ended")
    coloured.expect_exact("#0")
    coloured.expect_exact("ended")
    assert "@[[" not in coloured.before
    coloured.expect_exact(PROMPT)


READING = re.compile(r"Reading the symbols of \S+/libc[.-]\S+\.\.\.")


def test_what_takes_long_is_told(chain: Crash) -> None:
    """Here at once; never to a program that reads JSON."""
    child = terminal(chain)
    answer(child, "python import whocall.base.long_work as work; work.PATIENCE = 0.0")
    answer(child, "set height 0")
    assert READING.search(answer(child, "whocall functions -module libc.so.6 ^abort$"))
    assert f"Walking the stacks of {chain.exe}..." in answer(child, "whocall bt")
    child.close(force=True)
    other = terminal(chain)
    answer(other, "python import whocall.base.long_work as work; work.PATIENCE = 0.0")
    said = answer(other, "whocall functions -json -module libc.so.6 ^abort$")
    assert '"abort"' in said
    assert not READING.search(said)
    other.close(force=True)
