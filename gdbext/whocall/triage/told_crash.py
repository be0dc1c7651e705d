"""What a store tells of a crash, as whocall writes it: whoever else wrote it is not believed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from whocall.triage.likeness import TELLING
from whocall.triage.said import LONGEST
from whocall.triage.severity import CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]

_MOST_FRAMES = 64
_MOST_WORDS = 256  # of a frame, and of a crash


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _text_or_none(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _said(value: Any) -> bool:
    return value is None or (isinstance(value, str) and len(value) <= LONGEST)


def _number_or_none(value: Any) -> bool:
    return value is None or (isinstance(value, int) and 0 <= value < 1 << 64)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _anchors(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= _MOST_WORDS
        and all(
            isinstance(each, list)
            and len(each) == 2
            and isinstance(each[0], str)
            and each[0].partition(":")[0] in TELLING
            and isinstance(each[1], int)
            and 0 <= each[1] < 1 << 32
            for each in value
        )
    )


_FRAME: dict[str, Callable[[Any], bool]] = {
    "key": _text, "module": _text_or_none, "build_id": _text_or_none, "function": _text_or_none,
    "inferred": _flag, "start": _number_or_none, "rva": _number_or_none, "trust": _text,
    "rests_on": _number_or_none, "anchors": _anchors,
}  # fmt: skip


def _frames(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= _MOST_FRAMES
        and all(_fits(frame, _FRAME) for frame in value)
    )


def _words(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= _MOST_WORDS and all(map(_text, value))


_CRASH: dict[str, Callable[[Any], bool]] = {
    "signal": _text_or_none, "called": _text_or_none, "near": _number_or_none,
    "message": _text_or_none, "said": _said, "frames": _frames, "through": _words,
    "kind": lambda kind: isinstance(kind, str) and kind in CLASSES, "recursive": _flag,
}  # fmt: skip
OF_SIGNATURE = tuple(_CRASH)
_WHOLE = {
    **_CRASH,
    "signature": _text, "address": _number_or_none, "program": _text_or_none,
    "build_id": _text_or_none,
}  # fmt: skip


def _fits(value: Any, form: dict[str, Callable[[Any], bool]]) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == form.keys()
        and all(fits(value[name]) for name, fits in form.items())
    )


def told_crash(text: Any) -> Json:
    """Raises ValueError where it is none that whocall writes."""
    try:
        crash: Json = json.loads(text)
    except (RecursionError, TypeError) as error:
        raise ValueError(str(error)) from None
    if isinstance(crash, dict):
        crash.setdefault("said", None)  # a store of before has no word of it
    if not _fits(crash, _CRASH):
        raise ValueError("it is no crash as whocall writes one")
    return crash


def crash_or_none(value: Any) -> Json | None:
    """What `examine.crash_of` tells, out of a process that read a core; None for anything else."""
    return value if _fits(value, _WHOLE) else None
