"""The settings of gdb and of a command's options as one way to walk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from whocall.gdb.host import settings
from whocall.shared_front_end.options import Parsed

if TYPE_CHECKING:
    from whocall.base.process_image import Walk
    from whocall.report.form.jsonform import Json


def demangle() -> bool:
    """gdb's `set print demangle`."""
    return bool(gdb.parameter("print demangle"))


def without(parsed: Parsed) -> tuple[str, ...]:
    """The strategies that the setting and the options switch off."""
    return tuple(dict.fromkeys(settings.without() + parsed.items("without")))


def wants_past_main(parsed: Parsed) -> bool:
    """By the option, or by gdb's `set backtrace past-main`."""
    return parsed.has("past-main") or bool(gdb.parameter("backtrace past-main"))


def limited(parsed: Parsed) -> Parsed:
    """As gdb's `set backtrace limit` has it: no frame beyond that is shown."""
    limit = settings.backtrace_limit()
    if limit >= settings.max_frames() or (parsed.wanted is not None and parsed.wanted < 0):
        return parsed
    return parsed._replace(wanted=limit if parsed.wanted is None else min(parsed.wanted, limit))


def walk_of(parsed: Parsed, past_main: bool = False) -> Walk:
    """How `whocall bt` with these options walks."""
    from whocall.base.process_image import Walk

    return Walk(**wanted_walk(parsed, past_main))


def wanted_walk(parsed: Parsed, past_main: bool = False) -> Json:
    """The same, for who answers."""
    return {
        "without": without(parsed),
        "max_frames": settings.max_frames(),
        "explain": parsed.has("explain"),
        "registers": parsed.has("full"),
        "demangle": demangle(),
        "past_main": past_main or wants_past_main(parsed),
        "count": parsed.wanted,
    }
