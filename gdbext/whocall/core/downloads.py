"""Says what a command waits for: in gdb's words what debuginfod sends, and long work of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with what is fetched, and how many bytes are here and are expected."""


_tell_work: Callable[[str], None] | None = None
PATIENCE = 1.0  # seconds
_NATIVE = "whocall._native"


def tell_long_work(tell: Callable[[str], None] | None) -> None:
    """From now on, the start of a command, what native code does is told when it takes long."""
    global _tell_work
    _tell_work = tell
    if _NATIVE in sys.modules:
        begin_telling()


def say_long_work(what: str) -> None:
    """What our own code has been doing for longer than PATIENCE: `Unpacking FILE`."""
    if _tell_work is not None:
        _tell_work(what)


def begin_telling() -> None:
    """The native module is loaded."""
    sys.modules[_NATIVE].tell_of_long_work(_tell_work, PATIENCE)


def line(what: str, size: int) -> str:
    """`Downloading 3.40 MB separate debug info for /bin/prog`."""
    amount = f"{size / (1 << 20):.2f} MB" if size >= 10240 else f"{size / (1 << 10):.2f} KB"
    return f"Downloading {amount} {what}"


def announcing(write: Callable[[str], None]) -> Progress:
    """Writes the line of each file once."""
    said: set[str] = set()

    def progress(what: str, done: int, size: int) -> None:
        if what not in said:
            said.add(what)
            write(line(what, size) + "\n")

    return progress
