"""gdb on a terminal, as a person has it."""

from __future__ import annotations

from pathlib import Path

import pexpect
from programs import Crash
from sessions import GDB, INDEX, SCRIPT, environment

PAGER = "--Type <RET> for more, q to quit"
PROMPT = "(gdb) "


def terminal(
    crash: Crash, *options: str, script: Path = SCRIPT, term: str = "dumb", **more: str
) -> pexpect.spawn:
    """gdb on a terminal with the extension loaded, at its prompt; no pager, whatever gdb says at
    its start, until `page` asks for it.
    """
    arguments = ["-nx", "-q", "-iex", "set height 0", *INDEX, *options, "-ex", f"source {script}"]
    child = pexpect.spawn(
        GDB, [*arguments, str(crash.exe), str(crash.core)], env=environment(TERM=term, **more),
        encoding="utf-8", timeout=60, dimensions=(24, 200),
    )  # fmt: skip
    child.delaybeforesend = None  # gdb is at its prompt: no password is to be asked for
    child.expect_exact('type "whocall bt"')
    child.expect_exact(PROMPT)
    return child


def said_at_prompt(child: pexpect.spawn, line: str) -> str:
    """What the line brings until the next prompt."""
    child.sendline(line)
    child.expect_exact(PROMPT)
    said: str = child.before
    return said


def page(child: pexpect.spawn, lines: int) -> None:
    """From now on the pager stops each `lines` lines."""
    child.sendline(f"set height {lines}")
    child.expect_exact(PROMPT)


def alive(child: pexpect.spawn) -> None:
    """The prompt is back, no traceback was shown, and gdb goes on."""
    child.expect_exact(PROMPT)
    assert "Traceback" not in child.before
    goes_on(child)


def goes_on(child: pexpect.spawn) -> None:
    """At its prompt gdb answers."""
    child.sendline("echo ali\\166e\\n")
    child.expect_exact("alive")
    child.expect_exact(PROMPT)
