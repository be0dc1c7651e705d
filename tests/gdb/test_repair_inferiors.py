"""Two cores in one gdb: each inferior's files and rules are given and taken back by themselves."""

from __future__ import annotations

from programs import CHAIN, HARD, Crash, shared
from sessions import batch
from stacks import PAST_MAIN
from test_repaired import PROGRAM, WALK, lines, marked, parts


def opened(crash: Crash) -> list[str]:
    """Commands that make a second inferior of a core; with the first one's connection to its core
    gdb before 18 dies.
    """
    return ["add-inferior -no-connection", "inferior 2", f"file {crash.exe}", f"core {crash.core}"]


def true_frames(crash: Crash) -> list[str]:
    return lines("pc", batch([PAST_MAIN, WALK], [crash.twin, crash.core]).out)


def test_each_inferior_by_itself() -> None:
    """The same C library lies in both at the same place, and is another object file to gdb."""
    first, second = shared("chain", CHAIN), shared("crash", PROGRAM, HARD)
    said = batch(
        [
            PAST_MAIN,
            *marked(WALK),
            "whocall repair",
            *opened(second),
            *marked(WALK),
            "whocall repair",
            *marked(WALK),
            "inferior 1",
            *marked(WALK),
            "inferior 2",
            "whocall revert",
            *marked(WALK),
            "inferior 1",
            *marked(WALK),
            "whocall revert",
            *marked(WALK),
        ],
        [first.exe, first.core],
    )
    stacks = [lines("pc", part) for part in parts(said.out)]
    gdbs_first, gdbs_second = stacks[0], stacks[1]
    true_first, true_second = true_frames(first), true_frames(second)
    assert gdbs_first != true_first
    assert gdbs_second != true_second
    assert stacks[2:] == [true_second, true_first, gdbs_second, true_first, gdbs_first], said.err
