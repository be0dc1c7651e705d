"""What functions were handed, and how the program was called: as `whocall bt` tells it."""

from __future__ import annotations

from whocall.base.native_backtraces import written
from whocall.base.records import replace

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.base.model import Backtrace
    from whocall.report.form.jsonform import Json


def told(trace: Backtrace) -> Json:
    """The backtrace as `whocall bt --json` writes it."""
    import json

    found: Json = json.loads("".join(["[", *written([trace]).json(1, True), "]"]))[0]
    return found


def arguments_of(trace: Backtrace) -> list[list[Json] | None]:
    """Of each frame what its function was handed; None where it is not known what it takes."""
    return [frame["arguments"] for frame in told(trace)["frames"]]


def command_line(trace: Backtrace) -> str | None:
    """How the process of a crashed thread was called, as far as that is known: a core keeps 79
    characters of it.
    """
    happened = told(replace(trace, frames=trace.frames[:1]))["happened"]
    found: str | None = happened["command_line"] if happened else None
    return found
