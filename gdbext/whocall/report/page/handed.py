"""What functions were handed, and how the program was called: as `whocall bt` tells it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from whocall.core.native_backtraces import written

if TYPE_CHECKING:
    from whocall.core.model import Backtrace
    from whocall.report.form.jsonform import Json

_SMALL = 1 << 20  # numbers nearer to zero are told in decimals
_NARROW = 4  # bytes: of less it is not known whether they have a sign
_LONGEST_TEXT = 200  # characters that are read of a text
_ESCAPES = str.maketrans({"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\"})


def told(trace: Backtrace) -> Json:
    """The backtrace as `whocall bt --json` writes it."""
    found: Json = json.loads("".join(["[", *written([trace]).json(1, True), "]"]))[0]
    return found


def arguments_of(trace: Backtrace, word_size: int) -> list[list[Json] | None]:
    """Of each frame what its function was handed, and how that is shown; None where it is not
    known what it takes.
    """
    return [_with_looks(frame["arguments"], word_size) for frame in told(trace)["frames"]]


def _with_looks(arguments: list[Json] | None, word_size: int) -> list[Json] | None:
    if arguments is None:
        return None
    return [{**each, "shown": shown(each, word_size)} for each in arguments]


def shown(argument: Json, word_size: int) -> str:
    """How text shows it: `3`, `0x55d5e786b010 "soon"`, `0x401136 <f>`, or `?`."""
    value = argument["value"]
    if value is None:
        return "?"
    bits = 8 * (argument["width"] or word_size)
    number = int(value, 16)
    if number >> (bits - 1):
        number = number - (1 << bits) if bits >= 8 * _NARROW else _SMALL
    text = str(number) if -_SMALL < number < _SMALL else _pointer(argument)
    return text + ("?" if argument["trust"] == "now" else "")


def _pointer(argument: Json) -> str:
    text: str = argument["value"]
    if argument["points_to"] is not None:
        return f"{text} <{argument['points_to']['function']}>"
    if argument["text"]:
        goes_on = "..." if len(argument["text"]) >= _LONGEST_TEXT else ""
        return f'{text} "{argument["text"].translate(_ESCAPES)}"{goes_on}'
    return text


def command_line(trace: Backtrace) -> str | None:
    """How the process of a crashed thread was called, as far as that is known: a core keeps 79
    characters of it.
    """
    happened = told(replace(trace, frames=trace.frames[:1]))["happened"]
    found: str | None = happened["command_line"] if happened else None
    return found
