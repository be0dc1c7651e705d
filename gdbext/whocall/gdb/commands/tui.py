"""The window and the layout `whocall` of gdb's text user interface, where this gdb has one."""

from __future__ import annotations

from typing import Any

import gdb

from whocall.base.printable import printable
from whocall.gdb.host import console


def _stack_window(window: Any) -> Any:
    """Makes a window; gdb calls this when a layout with it is shown for the first time."""
    from whocall.base.errors import Error, as_gdb_says

    try:
        from whocall.gdb.commands.stack_window import StackWindow
    except Error as error:  # the native module is missing
        return _Sentence(window, as_gdb_says(str(error)))
    return StackWindow(window)


class _Sentence:
    """A window that says one thing."""

    def __init__(self, window: Any, sentence: str) -> None:
        self._window = window
        self._sentence = printable(sentence)

    def render(self) -> None:
        """gdb calls this when the window has to be drawn."""
        import textwrap

        if self._window.is_valid():
            self._window.erase()
            lines = textwrap.wrap(self._sentence, max(self._window.width, 1))
            self._window.write("\n".join(lines[: self._window.height]))


def register() -> None:
    """Adds the window, and a layout that shows it above the command window."""
    if not hasattr(gdb, "register_window_type"):
        return
    try:
        gdb.register_window_type("whocall", _stack_window)
        console.said("tui new-layout whocall whocall 2 status 0 cmd 1")
    except (gdb.error, RuntimeError):
        pass  # gdb was built without the interface, or the user has a layout of this name
