"""A program of the trial: what it needs, how it is started, and what is known of its frames."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

TABLES, FRAME_POINTERS = "tables", "frame pointers"
"""How eu-stack's frames are believed. `tables`: as far as unwind tables lead; where a frame has
none, eu-stack goes on by rbp, which is a guess for most programs. `frame pointers`: to the end,
since the code without tables is known to keep rbp.
"""


@dataclass(frozen=True)
class Program:
    """One program in one situation.

    `command` is a line for a shell, with the sources below `scripts` copied into its working
    directory, and `unpacked` packages below `root`.
    It is started with `exec`, unless it has its own, or starts jobs: then `process` says by a
    piece of the command line which of them is looked at: the one that computes.
    """

    name: str
    group: str
    command: str
    packages: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    made: dict[str, str] = field(default_factory=dict)
    """Files that are written into the working directory: name and content."""
    prepare: str = ""
    """Shell lines that run there once: compilers, generators of input."""
    process: str = ""
    unpacked: tuple[str, ...] = ()
    """Packages that are downloaded and unpacked below the working directory, not installed."""
    believed: str = TABLES
    warm: float = 0.3
    """Seconds of CPU time before the first moment may come."""
    spread: float = 0.4
    """Seconds of CPU time between two moments at the most."""
    environment: dict[str, str] = field(default_factory=dict)
    twin: str = ""
    """A file in the working directory with the tables that were stripped off; eu-stack reads it in
    place of the executable.
    """
    last: tuple[str, ...] = ()
    """Functions that switch stacks: eu-stack is believed as far as these."""
    dropped: tuple[str, ...] = ()
    """Functions whose frames eu-stack leaves out; `note` has the reason."""
    note: str = ""
    """What is peculiar: where eu-stack itself errs, by name, and why."""


SCRIPTS = Path(__file__).parent / "scripts"
STOCK_SCRIPTS = Path(__file__).parents[1] / "stock" / "scripts"
