"""The window `whocall` of gdb's text user interface: the selected thread's stack as it lies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import gdb

from whocall.base.errors import Error, as_gdb_says
from whocall.base.model import Backtrace, marked
from whocall.base.native_errors import native_errors
from whocall.base.printable import printable
from whocall.base.process_image import ProcessImage, Walk
from whocall.gdb.commands.caller import selected_pc
from whocall.gdb.host.downloads import silence
from whocall.gdb.host.output import current_style
from whocall.gdb.target.frames import selected_level
from whocall.gdb.target.inferior import current
from whocall.gdb.target.walks import demangle, walk_of
from whocall.gdb_helper.current import Current
from whocall.report.backtrace.caller import find
from whocall.report.form.style import shown_line
from whocall.report.stack.picture import LINES, Picture, Stack, Strokes
from whocall.report.stack.view import View
from whocall.shared_front_end.options import Parsed

FEWEST_FRAMES = 64  # a walk for the window has so many; more are added as they come into view
_REGISTERS_TOO = Parsed(flags=frozenset({"full"}))

_open: list[StackWindow] = []


def _strokes() -> Strokes:
    charset = gdb.host_charset() if hasattr(gdb, "host_charset") else ""
    return LINES if charset.upper() in ("UTF-8", "UTF8") else Strokes()


def _code_at(image: ProcessImage, names_demangled: bool, address: int) -> str | None:
    """`main (+14)` for an address of code."""
    if not image.may_be_code(address + 1):
        return None
    with native_errors():
        place = image.native.describe(address, demangle=names_demangled, lines=False)
    if place.function is None:
        return None
    offset = "" if place.offset is None else f" (+{place.offset})"
    return f"{marked(place.function, place.inferred)}{offset}"


class _Look:
    """What is drawn: a stack, and gdb's selected frame on it."""

    def __init__(self, now: Current, walk: Walk, level: int, pc: int) -> None:
        self.now = now
        self.walk = walk
        self.level = level
        self.pc = pc

    def is_on_stack_of(self, other: _Look | None) -> bool:
        return (
            other is not None
            and self.now.image is other.now.image
            and (self.now.selected, self.walk) == (other.now.selected, other.walk)
        )

    def selects_as(self, other: _Look) -> bool:
        return (self.level, self.pc) == (other.level, other.pc)

    def take(self, count: int) -> Backtrace:
        """The innermost `count` frames at least."""
        walk = replace(self.walk, count=min(count, self.walk.max_frames))
        trace = self.now.image.backtrace(self.now.selected, walk)
        return self.now.renumbered(self.now.selected, trace)


class StackWindow:
    """What gdb asks of a window: render, hscroll, vscroll, close. No error leaves it."""

    def __init__(self, window: Any) -> None:
        self._window = window
        self._view = View()
        self._look: _Look | None = None
        self._trace: Backtrace | None = None
        self._at: int | None = None  # the selected frame's index in the trace
        self._listen()

    def _listen(self) -> None:
        if not _open:
            for registry, handler in _handlers():
                registry.connect(handler)
        _open.append(self)

    def close(self) -> None:
        """gdb calls this when the layout has the window no more."""
        if self in _open:
            _open.remove(self)
            if not _open:
                for registry, handler in _handlers():
                    registry.disconnect(handler)
        self._forget()

    def _forget(self) -> None:
        self._look, self._trace, self._at = None, None, None
        self._view.show(None)

    def render(self) -> None:
        """gdb calls this when the window is new or has another size."""
        self._safely(self._update)

    def vscroll(self, rows: int) -> None:
        """gdb calls this for the arrow keys and pages."""
        self._safely(partial(self._scroll, rows, 0))

    def hscroll(self, columns: int) -> None:
        """Likewise."""
        self._safely(partial(self._scroll, 0, columns))

    def runs(self) -> None:
        """The program goes on: what is shown is how it was."""
        if self._look is not None and self._window.is_valid():
            self._window.title = "whocall: the program runs; this is how it stood"

    def _safely(self, work: Callable[[], None]) -> None:
        """Does the work and draws; an error is what the window shows then."""
        try:
            if not self._window.is_valid():
                return
            try:
                work()
            except Error as error:
                self._tell(as_gdb_says(str(error)))
            except KeyboardInterrupt:
                self._tell('Interrupted.  "refresh" draws the stack.')
            except Exception as error:  # a traceback would be drawn across the screen
                self._tell(f"The stack cannot be shown: {error}")
            self._draw()
        except (gdb.error, RuntimeError):
            pass  # the window is gone

    def _tell(self, sentence: str) -> None:
        self._forget()
        self._view.show(None, sentence)

    def _update(self) -> None:
        silence()
        level = selected_level() or 0
        now = current()
        look = _Look(now, walk_of(_REGISTERS_TOO, past_main=True), level, selected_pc())
        before, self._look = self._look, look
        if before is not None and look.is_on_stack_of(before):
            if look.selects_as(before):
                return
        else:
            self._trace = None
        count = max(2 * level + 16, FEWEST_FRAMES)
        if self._trace is None or (self._goes_on() and len(self._trace.frames) < count):
            self._walk(count)
        self._mark()
        if self._at is not None:
            self._view.reveal(self._at, self._window.height)

    def _goes_on(self) -> bool:
        return self._trace is not None and self._trace.stop.reason == "count"

    def _mark(self) -> None:
        """Finds gdb's selected frame in the chain."""
        assert self._trace is not None
        assert self._look is not None
        self._at = find(self._trace, self._look.level, self._look.pc)
        if self._view.picture is not None:
            self._view.picture.selected = self._at

    def _walk(self, count: int) -> None:
        look = self._look
        assert look is not None
        self._trace = look.take(count)
        image = look.now.image
        stack = Stack(
            trace=self._trace,
            pointer_size=image.pointer_size,
            word_size=image.word_size,
            byte_order=image.byte_order,
            pc_name=image.native.pc_name,
            read=image.read,
            code_at=partial(_code_at, image, demangle()),
            strokes=_strokes(),
        )
        self._view.show(Picture(stack, self._at))

    def _scroll(self, rows: int, columns: int) -> None:
        height = self._window.height
        self._extend(self._view.top + rows + height)
        self._view.scroll(rows, columns, height)

    def _extend(self, row: int) -> None:
        """Walks further while the picture ends before `row` and the stack goes on."""
        while self._trace is not None and self._goes_on():
            picture = self._view.picture
            if picture is None or row < len(picture):
                return
            self._walk(2 * len(self._trace.frames))
            self._mark()

    def _draw(self) -> None:
        window = self._window
        window.title = printable(self._title())
        style = current_style()
        self._extend(self._view.top + window.height)
        width = window.width - 1  # a line that fills the last column would make an empty one below
        lines = self._view.lines(width, window.height, style)
        text = "\n".join(map(shown_line, lines))
        window.erase()
        window.write(text if _strokes() is LINES else text.encode("ascii", "replace").decode())

    def _title(self) -> str:
        if self._trace is None or self._look is None:
            return "whocall"
        where = f"whocall: thread {self._trace.number}"
        if self._at is None:
            return f"{where}, gdb's frame #{self._look.level} is not on whocall's chain"
        frame = self._trace.frames[self._at]
        return f"{where}, #{frame.level} {frame.shown}"


def _before_prompt(event: Any = None) -> None:
    for window in list(_open):
        window.render()


def _cont(event: Any = None) -> None:
    for window in list(_open):
        try:
            window.runs()
        except (gdb.error, RuntimeError):
            pass  # the window is gone


def _handlers() -> list[tuple[Any, Callable[[Any], None]]]:
    found: list[tuple[Any, Callable[[Any], None]]] = [
        (gdb.events.before_prompt, _before_prompt),
        (gdb.events.cont, _cont),
    ]
    selected = getattr(gdb.events, "selected_context", None)  # in newer gdbs
    return found + ([(selected, _before_prompt)] if selected is not None else [])
