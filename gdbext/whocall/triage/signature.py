"""The signature of a crash: what stays when the program is built again or loaded elsewhere.

It is made of frames that are normal: the file's base name with the function's name, or, where the
function has lost its name, with the shape of its code. Frames of the runtime stand as what the
program called of it; recursion is folded; frames that rest on a search of the stack count only
where there are too few better ones.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from whocall.triage.runtime_frames import base_name, is_runtime, plain_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FORM = 4  # counts up whenever the same crash gets another signature
NULL, BAD = "NULL", "a bad address"  # what was called where no code is
NEAR = 64 << 10  # bytes: addresses below count as NULL
CIRCLE, AGAIN = 64, 4  # of the innermost frames, so many in one function are recursion
DEPTH = 8  # frames of the program that count


class Place(NamedTuple):
    """A frame before it is normal. `start` and `rva` are link addresses."""

    level: int
    pc: int
    function: str | None  # None where nobody knows its name
    module: str | None
    build_id: str | None
    rva: int | None
    start: int | None
    trust: str
    rests_on: int | None
    trampoline: bool
    inferred: bool


def kept_places(
    places: Sequence[Place], wild: bool = False
) -> tuple[list[Place], str | None, list[Place]]:
    """The frames that tell of the bug, innermost first, and what of the runtime the innermost one
    called when it all happened (None when the crash is its own); also the runtime frames inside.
    `wild` says that the program counter is no code's: then it called NULL or a BAD address.
    """
    inner: list[Place] = []
    rest = list(places)
    if rest and rest[0].module is None and rest[0].function is None and wild:
        gone = rest.pop(0)  # no code: what counts is who called it
        if not (rest and is_runtime(rest[0].module, rest[0].function)):
            inner, nowhere = [gone], NULL if gone.pc < NEAR else BAD
            return _trusted(_own(rest))[:DEPTH], nowhere, inner
    while rest and (rest[0].trampoline or is_runtime(rest[0].module, rest[0].function)):
        inner.append(rest.pop(0))
    called = _name_of(inner[-1]) if inner else None
    return _trusted(_own(rest))[:DEPTH], called, inner


def _own(places: Iterable[Place]) -> list[Place]:
    return folded(
        [
            place
            for place in places
            if not place.trampoline and not is_runtime(place.module, place.function)
        ]
    )


def _name_of(place: Place) -> str:
    return plain_name(place.function) if place.function else base_name(place.module) or "?"


def identity(place: Place) -> tuple[object, ...]:
    """What makes two frames of one process the same function."""
    return (place.module, place.start if place.start is not None else place.function or place.pc)


def is_recursion(places: Sequence[Place]) -> bool:
    """Whether one function stands on the stack again and again: where in the circle the stack ended
    is chance then.
    """
    counts = Counter(identity(place) for place in places[:CIRCLE])
    return any(count >= AGAIN for count in counts.values())


def folded(places: Sequence[Place]) -> list[Place]:
    """Without repetitions: of a function that stands there again, only the innermost frame."""
    seen: set[tuple[object, ...]] = set()
    kept = []
    for place in places:
        key = identity(place)
        if key not in seen:
            seen.add(key)
            kept.append(place)
    return kept


def _trusted(places: list[Place]) -> list[Place]:
    """Those that rest on no search, when there are two of them; else all."""
    sure = [place for place in places if place.trust != "scan" and place.rests_on is None]
    return sure if len(sure) >= 2 else places


def signature_of(signal: str | None, called: str | None, words: Iterable[str], said: str) -> str:
    """16 hexadecimal digits. `words` are the frames' keys, `said` the normal message."""
    lines = [f"form {FORM}", signal or "", called or "", said, *words]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()[:16]
