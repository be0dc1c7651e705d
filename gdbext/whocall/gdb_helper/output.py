"""Where answers go: to gdb, or to the process of gdb."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

from whocall.gdb_helper import channel
from whocall.report.form.style import AnsiStyle, Style, shown_line

if TYPE_CHECKING:
    from whocall.gdb_helper.channel import Channel
    from whocall.report.form.jsonform import Json

CHUNK = 16384  # characters of a message: few of them, and still quick to stop


def chunks(pieces: Iterable[str]) -> Iterator[str]:
    """Some pieces at a time."""
    waiting: list[str] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= CHUNK:
            yield "".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield "".join(waiting)


class Output(Protocol):
    """As whocall.gdb.host.output has it."""

    def write(self, lines: Iterable[str]) -> None:
        """Lines without their ends."""

    def write_pieces(self, pieces: Iterable[str]) -> None:
        """A text of several lines, whose writer has made the names in it printable."""

    def write_json(self, pieces: Iterable[str]) -> None:
        """JSON text."""

    def warn(self, sentences: Iterable[str]) -> None:
        """`warning: ...` lines."""

    def hand_over(self, contents: bytes | memoryview) -> None:
        """What is to become a file."""


def placeholder(number: int) -> str:
    """The path of a file whose contents were handed over after `number` others."""
    return f"/contents/{number}"


def style_of(wanted: Json) -> Style:
    """The style whose codes gdb has told; None stands for none."""
    codes = wanted["style"]
    return Style() if codes is None else AnsiStyle(dict(codes))


def encoded(text: str) -> bytes:
    """Names need not be UTF-8."""
    return text.encode("utf-8", "surrogateescape")


class Sender:
    """In the helper."""

    def __init__(self, line: Channel) -> None:
        self._line = line

    def write(self, lines: Iterable[str]) -> None:
        self._send(channel.TEXT, (shown_line(line) + "\n" for line in lines))

    def write_pieces(self, pieces: Iterable[str]) -> None:
        self._send(channel.TEXT, pieces)

    def write_json(self, pieces: Iterable[str]) -> None:
        self._send(channel.LINES_OF_JSON, pieces)

    def warn(self, sentences: Iterable[str]) -> None:
        for sentence in sentences:
            self._line.say(channel.WARNING, encoded(sentence))

    def hand_over(self, contents: bytes | memoryview) -> None:
        self._line.say(channel.CONTENTS, bytes(contents))

    def say(self, line: str) -> None:
        """What people who wait are told."""
        self._line.say(channel.LINE, encoded(line))

    def fetched(self, what: str, done: int, size: int) -> None:
        """The same, of a file that debuginfod sends."""
        self._line.say(channel.FETCHED, json.dumps([what, done, size]).encode())

    def _send(self, kind: bytes, pieces: Iterable[str]) -> None:
        """Some pieces at a time."""
        for chunk in chunks(pieces):
            self._line.say(kind, encoded(chunk))
