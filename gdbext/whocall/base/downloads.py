"""Says in gdb's words what debuginfod sends."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with what is fetched, and how many bytes are here and are expected."""


def line(what: str, size: int) -> str:
    """`Downloading 3.40 MB separate debug info for /bin/prog`."""
    amount = f"{size / (1 << 20):.2f} MB" if size >= 10240 else f"{size / (1 << 10):.2f} KB"
    return f"Downloading {amount} {what}"


def announcing(write: Callable[[str], None]) -> Progress:
    """Writes the line of each file, without its end, once."""
    said: set[str] = set()

    def progress(what: str, done: int, size: int) -> None:
        if what not in said:
            said.add(what)
            write(line(what, size))

    return progress
