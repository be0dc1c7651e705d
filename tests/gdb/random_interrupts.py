"""Ctrl-C at random moments in gdb: `python3 random_interrupts.py [--count N] [--seed S]` in
`tests/gdb`. Afterwards gdb's state is as before: threads, its own backtrace, settings.
"""

from __future__ import annotations

import argparse
import atexit
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[1]))
    os.environ.setdefault("WHOCALL_BUILD_DIR", str(Path(__file__).parents[2] / "build/release"))
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="whocall-tests-cache-")
    atexit.register(shutil.rmtree, os.environ["XDG_CACHE_HOME"], ignore_errors=True)

import pexpect
from programs import WORKERS, Crash, shared
from terminals import PROMPT, said_at_prompt, terminal

COMMANDS = [
    "whocall", "whocall bt -all", "whocall bt -json", "whocall compare -all", "whocall modules",
    "whocall functions ^q", "whocall symbol $pc", "whocall audit -limit 1", "whocall repair",
    "whocall revert", "whocall export /dev/null", "whocall trace", "thread apply all whocall bt 2",
]  # fmt: skip
STATE = ["info threads", "bt 4", "show whocall", "show backtrace past-main", "show height"]
OWN_WORD = r"Python Exception (<class 'KeyboardInterrupt'>): \1?\s*(?=echo )"
HELPER = ("set whocall helper on", "set whocall helper off")


def _state(child: pexpect.spawn) -> list[str]:
    return [said_at_prompt(child, line) for line in STATE]


def _duration(child: pexpect.spawn, command: str) -> float:
    begin = time.monotonic()
    said_at_prompt(child, command)
    return time.monotonic() - begin


def faults(crash: Crash, count: int, seed: int) -> Iterator[str]:
    """What is wrong after so many interrupts, in both ways of reading."""
    chance = random.Random(seed)
    for choice in HELPER:
        child = terminal(crash)
        said_at_prompt(child, choice)
        took = {command: _duration(child, command) for command in COMMANDS}
        said_at_prompt(child, "whocall revert")
        before = _state(child)
        for number in range(count // len(HELPER)):
            command = COMMANDS[number % len(COMMANDS)]
            moment = chance.uniform(0.0, 1.1 * took[command])
            yield from (
                f"{choice}: {command} after {moment:.3f} s: {fault}"
                for fault in _interrupted(child, command, moment, before)
            )
        child.close(force=True)


def _interrupted(
    child: pexpect.spawn, command: str, moment: float, before: list[str]
) -> Iterator[str]:
    """Nothing is asked of the moment: it may lie before the command's first step, and behind its
    last one.
    """
    child.sendline(command)
    time.sleep(moment)
    child.sendintr()
    time.sleep(0.05)
    said = said_at_prompt(child, "echo en\\144ed\\n")
    while "ended" not in said:  # gdb throws away what was typed when it is interrupted
        said += said_at_prompt(child, "echo en\\144ed\\n")
    child.sendline("echo sti\\154l\\n")
    child.expect_exact("still")
    child.expect_exact(PROMPT)
    # gdb's own word where the interrupt comes before any line of the command has run: nothing
    # follows.
    own = re.sub(OWN_WORD, "", said)
    if "Traceback" in said or "Python Exception" in own:
        yield said
    if re.search("repair|revert", command):  # what it has done stays, or is taken back
        said_at_prompt(child, "whocall revert")
    after = _state(child)
    for line, one, other in zip(STATE, before, after):
        if one != other:
            yield f"{line}: {one!r} became {other!r}"


def main() -> int:
    """Prints what is wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    found = list(faults(shared("workers", WORKERS), arguments.count, arguments.seed))
    print("\n".join(found))
    print(f"{arguments.count:,} moments, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
