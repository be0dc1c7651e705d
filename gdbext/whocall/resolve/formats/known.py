"""All readers, in the order in which they are asked: the most particular first."""

from __future__ import annotations

from collections.abc import Callable

from whocall.resolve.facts.context import Context
from whocall.resolve.facts.place import Place
from whocall.resolve.formats import (
    android,
    chromium,
    gdb,
    glibc,
    go,
    java,
    kernel,
    libwhocall,
    perf,
    raw,
    rust,
    sanitizer,
    systemd,
    valgrind,
)
from whocall.resolve.grammar import reader as grammar

Reader = Callable[[str, Context], "list[Place]"]

READERS: tuple[tuple[str, Reader], ...] = tuple(
    (each.NAME, each.places)
    for each in (
        *(libwhocall, sanitizer, android, glibc, gdb, systemd, kernel, valgrind, java, rust),
        *(go, chromium, perf, raw),
    )
)


def frames(line: str, context: Context) -> tuple[str, list[Place]]:
    """The kind of log that a line is of, and the places in it; "" and none where nobody knows."""
    if libwhocall.is_said_by_the_program(line):
        return "", []
    kind, places = grammar.read(line, context)
    if places:
        return kind, places
    for kind, read in READERS:
        places = read(line, context)
        if places:
            return kind, places
    return "", []
