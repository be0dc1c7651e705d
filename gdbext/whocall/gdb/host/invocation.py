"""What kind of gdb this is."""

from __future__ import annotations

import re
from pathlib import Path

import gdb


def _options() -> list[str] | None:
    """gdb's own command-line options; None when they cannot be read."""
    try:
        raw = Path("/proc/self/cmdline").read_bytes()
    except OSError:
        return None
    words = [word.decode(errors="replace") for word in raw.split(b"\0")[1:]]
    for end in ("--args", "-args"):
        if end in words:
            words = words[: words.index(end)]
    return words


def is_batch() -> bool:
    """Whether gdb runs with -batch or -batch-silent.

    gdb does not tell scripts. Where the command line cannot be read, what -batch implies must do:
    no confirmation and no styling.
    """
    words = _options()
    if words is None:
        return not gdb.parameter("confirm") and not gdb.parameter("style enabled")
    return any(re.match(r"--?batch(-.*)?\Z", word) for word in words)


def is_machine_interface() -> bool:
    """Whether gdb was started for a program rather than a person: MI or DAP."""
    words = _options() or []
    for at, word in enumerate(words):
        match = re.match(r"--?(i[a-z]*)(?:=(.*))?\Z", word)
        if match is None or not "interpreter".startswith(match.group(1)):
            continue
        value = match.group(2)
        if value is None:
            value = words[at + 1] if at + 1 < len(words) else ""
        if value.startswith(("mi", "dap")):
            return True
    return False
