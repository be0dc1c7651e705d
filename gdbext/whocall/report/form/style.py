"""How pieces of text are painted: not at all, with ANSI colours, or as gdb's styles say.

The roles are gdb's own style names, so that inside gdb the user's `set style ...` counts.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from whocall.base.errors import UsageError
from whocall.base.printable import printable, printable_line

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import TextIO

ROLES = ("function", "filename", "address", "metadata", "title", "highlight")

_ANSI = {
    "function": "33",
    "filename": "32",
    "address": "34",
    "metadata": "2",
    "title": "1",
    "highlight": "31",
}

_RESET = "\x1b[0m"
_LINES = bytes(range(0x20, 0x7F)) + b"\n"
_in_use: dict[str, None] = {}  # the sequences that styles of this run write


def shown_line(line: str) -> str:
    """A line, without its end, on its way out: of control characters only our styles are left, all
    else in it is told. Names are made printable where they are set, or columns would not fit; what
    was forgotten there is caught here.
    """
    return printable_line(line, _in_use)


def shown_text(text: str) -> str:
    """Text of several lines likewise, whose line feeds are its writer's own."""
    if text.isascii() and not text.encode().translate(None, _LINES):
        return text
    return printable_line(text, (*_in_use, "\r\n"), "\n\t")


class Style:
    """Paints nothing; the base of the others. What is painted is text: no name holds a style."""

    @property
    def codes(self) -> Mapping[str, str]:
        """SGR parameters by role, for native code that paints."""
        return {}

    def paint(self, role: str, text: str) -> str:
        """`text`, printable, in the look of `role`, one of ROLES."""
        return printable(text)


class AnsiStyle(Style):
    """Terminal colours: the same as gdb's by default."""

    def __init__(self, codes: dict[str, str] | None = None) -> None:
        """`codes` maps roles to SGR parameters such as "1;33"; a role without one stays plain."""
        self._codes = _ANSI if codes is None else codes
        _in_use.update((f"\x1b[{code}m", None) for code in self._codes.values() if code)
        _in_use[_RESET] = None

    @property
    def codes(self) -> Mapping[str, str]:
        return self._codes

    def paint(self, role: str, text: str) -> str:
        code = self._codes.get(role)
        text = printable(text)
        return f"\x1b[{code}m{text}{_RESET}" if code and text else text


def codes_text(codes: dict[str, str]) -> str:
    """`function=33:filename=32`: the SGR parameters of the roles, as style_for() takes them."""
    return ":".join(f"{role}={code}" for role, code in codes.items())


def _codes(text: str) -> dict[str, str]:
    import re  # only here: every command imports this module

    parts = [re.match(r"([a-z]+)=([0-9;]*)\Z", part) for part in text.split(":")]
    codes = {part.group(1): part.group(2) for part in parts if part}
    if all(parts) and codes.keys() <= set(ROLES):
        return codes
    raise UsageError(
        f"--color takes always, never, auto or ROLE=CODES:..., such as {codes_text(_ANSI)},"
        f" not {text!r}"
    )


def style_for(stream: TextIO, wanted: str = "auto") -> Style:
    """Colours `always`, `never`, or `auto`: when `stream` is a terminal that shows them and the
    user has not said NO_COLOR. Anything else tells the colours, as codes_text() writes them.
    """
    if wanted == "never":
        return Style()
    if wanted == "always":
        return AnsiStyle()
    if wanted != "auto":
        return AnsiStyle(_codes(wanted))
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    return Style() if plain or not stream.isatty() else AnsiStyle()
