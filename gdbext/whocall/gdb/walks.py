"""The settings of gdb and of a command's options as one way to walk."""

from __future__ import annotations

import gdb

from whocall.gdb import parameters
from whocall.image import Walk
from whocall.options import Parsed


def demangle() -> bool:
    """gdb's `set print demangle`."""
    return bool(gdb.parameter("print demangle"))


def walk_of(parsed: Parsed, past_main: bool = False) -> Walk:
    """How `whocall bt` with these options walks."""
    return Walk(
        without=tuple(dict.fromkeys(parameters.without() + parsed.items("without"))),
        max_frames=parameters.max_frames(),
        explain=parsed.has("explain"),
        registers=parsed.has("full"),
        demangle=demangle(),
        past_main=past_main
        or parsed.has("past-main")
        or bool(gdb.parameter("backtrace past-main")),
        count=parsed.wanted,
    )
