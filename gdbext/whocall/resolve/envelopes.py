"""Lines that were packed into others on their way: by Docker and others into JSON, by rsyslog into
one line, where a message had several.

    {"log":"#1  0x000055d0c8a01139 n/a (prog + 0x1139)\\n","stream":"stderr","time":"..."}
    Nov 24 07:08:53 host systemd-coredump[99]: Process 98 dumped core.#012#0  0x000055... n/a (prog

What was packed is read as the line that it was, and written back packed again. Only what is again
the same then is opened at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from whocall.base.records import dataclass

Escape = Callable[[str], str]

_MESSAGE = re.compile(
    r'"(?:log|message|MESSAGE|msg)"\s{0,8}:\s{0,8}"(?P<text>(?:[^"\\]|\\.){1,65536})"'
)
_JSON_LINE = re.compile(r"(?P<text>(?:[^\\]|\\[^n]){0,65536})(?P<end>\\n|$)")
_SYSLOG_END = "#012"


def plain(text: str) -> str:
    """As it is."""
    return text


def _as_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _as_ascii_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _as_go_json(text: str) -> str:
    told = _as_json(text)
    for mark in "<>&\u2028\u2029":
        told = told.replace(mark, f"\\u{ord(mark):04x}")
    return told.replace("\x7f", "\\u007f")


def _as_syslog(text: str) -> str:
    return text.replace("\t", "#011")


@dataclass(frozen=True)
class Piece:
    """A line, or a part of one that was a line once."""

    text: str  # as its writer wrote it
    end: str  # what stands behind it in the log
    whole: bool  # False for what is not to be read
    escape: Escape  # makes of text what stands in the log


def opened(text: str, end: str, whole: bool) -> Iterator[Piece]:
    """The lines that a line holds."""
    if whole and text.startswith("{"):
        found = _MESSAGE.search(text)
        if found is not None:
            yield Piece(text[: found.start("text")], "", False, plain)
            yield from _json_lines(found["text"])
            yield Piece(text[found.end("text") :], end, False, plain)
            return
    if whole and _SYSLOG_END in text:
        *lines, last = text.split(_SYSLOG_END)
        for line in lines:
            yield _unpacked(line, _SYSLOG_END, line.replace("#011", "\t"), (_as_syslog,))
        yield _unpacked(last, end, last.replace("#011", "\t"), (_as_syslog,))
        return
    yield Piece(text, end, whole, plain)


def _json_lines(value: str) -> Iterator[Piece]:
    for found in _JSON_LINE.finditer(value):
        if found[0]:
            line, end = found["text"], found["end"]
            try:
                told = json.loads(f'"{line}"')
            except ValueError:
                yield Piece(line, end, False, plain)
                continue
            yield _unpacked(line, end, told, (_as_go_json, _as_json, _as_ascii_json))


def _unpacked(line: str, end: str, told: str, escapes: tuple[Escape, ...]) -> Piece:
    for escape in (plain, *escapes):
        if escape(told) == line:
            return Piece(told, end, True, escape)
    return Piece(line, end, False, plain)
