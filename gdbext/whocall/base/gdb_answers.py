"""What gdb says in words, where it has no other way to tell."""

from __future__ import annotations

import re

_BEHIND = re.compile(r"(?: \+ ([0-9]{1,18}))? in section ")


def offset_told(said: str, name: str) -> int | None:
    """How far behind a symbol's start an address lies, by `info symbol`, whose answer is `NAME + 12
    in section .text of FILE`; `name` is what gdb calls the function. None where that does not tell.

    gdb gives Python no symbols that the linker's table alone knows. A stranger may have put these
    very words into a name: so only what stands right behind the name is read.
    """
    if not name or not said.startswith(name):
        return None
    found = _BEHIND.match(said, len(name))
    return None if found is None else int(found[1] or 0)
