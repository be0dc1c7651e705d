"""Writing through gdb, so that its pager, its logging and its styles count.

Nothing else of whocall writes there (tests/architecture looks): whatever a name holds, it is told
here, but for JSON, whose text is safe already.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import gdb

from whocall.base.errors import as_gdb_says
from whocall.base.printable import printable, safe_json
from whocall.gdb_helper.output import CHUNK, chunks
from whocall.report.form.style import ROLES, AnsiStyle, Style, shown_line, shown_text

_COLORS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_INTENSITIES = {"bold": "1", "dim": "2"}


def write(lines: Iterable[str]) -> None:
    """Lines to gdb's output. The pager's `q` raises KeyboardInterrupt in here."""
    _write(shown_line(line) + "\n" for line in lines)


def write_pieces(pieces: Iterable[str]) -> None:
    """A text of several lines, whose writer has made the names in it printable."""
    _write(map(shown_text, pieces))


def write_json(pieces: Iterable[str]) -> None:
    """JSON text."""
    _write(map(safe_json, pieces))


def _write(pieces: Iterable[str]) -> None:
    """Some pieces at a time."""
    for chunk in chunks(pieces):
        gdb.write(chunk)


def write_text(text: str) -> None:
    """What another whocall has written, in pieces; no newline is added."""
    shown = shown_text(text)
    for start in range(0, len(shown), CHUNK):
        gdb.write(shown[start : start + CHUNK])


def warn(sentences: Iterable[str]) -> None:
    """`warning: ...` lines on gdb's error stream."""
    for sentence in sentences:
        say(f"warning: {sentence}")


def say(line: str) -> None:
    """A line on gdb's error stream, at once; on a screen broken between words."""
    shown = [printable(line)]
    if columns := screen_width():
        from whocall.report.form.sentences import broken

        shown = broken(line, columns)
    gdb.write("\n".join(shown) + "\n", gdb.STDERR)
    gdb.flush(gdb.STDERR)


def refusal(error: object) -> gdb.GdbError:
    """What ends a command, in gdb's words, to be raised."""
    return gdb.GdbError(printable(as_gdb_says(str(error).strip())))


def _parameter(name: str) -> str:
    try:
        value = gdb.parameter(name)
    except RuntimeError:  # a style that this gdb does not have
        return "none"
    return str(value).strip("\"'")


def _color(value: str, base: int) -> list[str]:
    """SGR parameters of a colour: a name, a palette index, or #RRGGBB (from gdb 17 on)."""
    if value in _COLORS:
        return [str(base + _COLORS.index(value))]
    if value.isdigit():
        return [f"{base + 8};5;{value}"]
    if value.startswith("#") and len(value) == 7:
        return [f"{base + 8};2;" + ";".join(str(int(value[i : i + 2], 16)) for i in (1, 3, 5))]
    return []


def _codes(role: str) -> str:
    codes = _color(_parameter(f"style {role} foreground"), 30)
    codes += _color(_parameter(f"style {role} background"), 40)
    intensity = _INTENSITIES.get(_parameter(f"style {role} intensity"))
    return ";".join(codes + ([intensity] if intensity else []))


def _asked_by_python() -> bool:
    """Whether Python code that is not ours runs the command: gdb does not tell it, nor us, whether
    it wants the text as a string, where gdb's own commands leave colours out.
    """
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
    return not str(frame.f_globals.get("__name__", "")).startswith("whocall.")


def _target(link: str) -> str:
    try:
        return str(Path(link).readlink())
    except OSError:  # closed by now, or another user's
        return ""


def _goes_to_a_pipe() -> bool:
    """Whether gdb's `pipe` runs: only then a child of gdb reads what gdb writes into a pipe."""
    try:
        pid = os.getpid()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        read = {_target(f"/proc/{child}/fd/0") for child in children}
        ours = [link for link in Path("/proc/self/fd").iterdir() if link.name != "0"]
        written = {_target(str(link)) for link in ours}
    except OSError:  # a child that has ended, a system without /proc
        return False
    return any(link.startswith("pipe:") for link in read & written)


def style_codes() -> dict[str, str] | None:
    """gdb's styles as SGR parameters of our roles; None when gdb itself would use none now."""
    dumb = os.environ.get("TERM", "dumb") == "dumb"
    if dumb or not gdb.parameter("style enabled") or not os.isatty(1):
        return None
    if _asked_by_python() or _goes_to_a_pipe():
        return None
    codes = {role: _codes(role) for role in ROLES}
    return dict(AnsiStyle(codes).codes)  # from now on they are ours, whoever writes them


def screen_width() -> int | None:
    """Columns of the screen that the text goes to, by `set width`; None where lines have no end."""
    if not os.isatty(1) or _asked_by_python() or _goes_to_a_pipe():
        return None
    columns: int | None = gdb.parameter("width")
    return columns


def current_style() -> Style:
    """gdb's styles when gdb itself would use them now."""
    codes = style_codes()
    return Style() if codes is None else AnsiStyle(codes)
