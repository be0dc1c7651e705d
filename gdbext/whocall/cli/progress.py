"""A bar on standard error for what takes longer than a second, where somebody watches it.

It is one line, drawn by rich where that is installed, and gone before anything else is written:
whatever ends the command, the terminal is as it was, with its cursor.
"""

from __future__ import annotations

import os
import sys
from time import monotonic

from whocall.base.long_work import PATIENCE, Lines, tell_long_work
from whocall.base.printable import printable
from whocall.cli.outputs import say
from whocall.cli.wrapped_stream import Passing, innermost

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Optional

    from whocall.cli.arguments import Values

    Draw = Callable[[str, Optional[float], int], str]

_ERASE = "\r\x1b[K"
_WIDTH = 24  # characters of a bar without rich


def _plain(what: str, share: float | None, columns: int) -> str:
    """`[######..................]  25 % Reading the symbols of /usr/bin/prog`."""
    head = ""
    if share is not None:
        full = round(min(max(share, 0.0), 1.0) * _WIDTH)
        head = f"[{'#' * full}{'.' * (_WIDTH - full)}] {share:4.0%} "
    room = columns - len(head)
    return head + (what if len(what) <= room else f"{what[: max(room - 3, 0)]}...")[: max(room, 0)]


def _by_rich(stream: Any) -> Draw:
    """Raises ImportError where it is not installed."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Column

    words = TextColumn("{task.description}", markup=False,
                       table_column=Column(no_wrap=True, overflow="ellipsis"))  # fmt: skip
    console = Console(file=stream)
    progress = Progress(words, BarColumn(), TimeElapsedColumn(), console=console)
    task = progress.add_task("", total=1.0)

    def draw(what: str, share: float | None, columns: int) -> str:
        console.width = columns
        total = None if share is None else 1.0
        progress.update(task, description=what, total=total, completed=share or 0.0)
        with console.capture() as drawn:
            console.print(progress.get_renderable(), end="")
        line: str = drawn.get()
        return line.strip("\n")

    return draw


class Bar:
    """What is done, in the last line of a terminal."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._draw: Draw | None = None
        self._shown = False
        self._due = 0.0  # who writes needs no bar beside
        self._in_line = False  # something that has no end yet stands there

    def show(self, what: str, share: float | None) -> None:
        """Draws it anew."""
        if self._in_line or monotonic() < self._due:
            return
        if self._draw is None:
            try:
                self._draw = _by_rich(self._stream)
            except ImportError:
                self._draw = _plain
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns or 80
        except (OSError, ValueError):
            columns = 80
        self._shown = True
        self._stream.write(_ERASE + self._draw(printable(what), share, columns - 1))
        self._stream.flush()

    def erase(self) -> None:
        """Leaves the line as it was."""
        if self._shown:
            self._shown = False
            self._stream.write(_ERASE)
            self._stream.flush()

    def make_room(self, text: str) -> None:
        """`text` is about to be written there."""
        self.erase()
        self._due = monotonic() + PATIENCE
        self._in_line = not text.endswith("\n")


class _Beside(Passing):
    """A stream to the terminal that has the bar."""

    def __init__(self, stream: Any, bar: Bar) -> None:
        super().__init__(stream)
        self._bar = bar

    def write(self, text: str) -> int:
        self._bar.make_room(text)
        return super().write(text)


_bar: Bar | None = None


def watch(arguments: Values) -> None:
    """From now on what takes long is shown: as a bar to whoever watches, as lines to a gdb that
    asks for them, to nobody else.
    """
    global _bar
    if getattr(arguments, "announce", False):
        quiet = getattr(arguments, "json", False)
        tell_long_work(None if quiet else Lines(say))
        return
    if not sys.stderr.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        tell_long_work(None)
        return
    _bar = Bar(innermost(sys.stderr))
    sys.stderr = _Beside(sys.stderr, _bar)
    if sys.stdout.isatty():
        sys.stdout = _Beside(sys.stdout, _bar)
    tell_long_work(_bar.show)


def leave() -> None:
    """The command is over: the bar is gone, and nobody hears of anything."""
    global _bar
    tell_long_work(None)
    if _bar is not None:
        _bar.erase()
        _bar = None
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, _Beside):
            setattr(sys, name, stream.stream)
