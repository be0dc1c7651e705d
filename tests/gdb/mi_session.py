"""gdb driven through GDB/MI, as editors drive it: commands with tokens, records, values."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from sessions import GDB, INDEX, environment

_NAME = re.compile(r"([A-Za-z_][\w-]*)=")
_RECORD = re.compile(r"(\d*)([\^*+=])([\w-]+)(,?)")
_STREAMS = {"~": "console", "@": "target", "&": "log"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b", "a": "\a", "e": "\x1b"}


class _Reader:
    """Reads MI values off a line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def done(self) -> bool:
        return self._at == len(self._text)

    def _take(self, what: str) -> bool:
        found = self._text.startswith(what, self._at)
        self._at += len(what) * found
        return found

    def _need(self, what: str) -> None:
        assert self._take(what), f"no {what} at {self._text[self._at : self._at + 60]!r}"

    def string(self) -> str:
        """A C string; octal escapes are bytes of UTF-8."""
        self._need('"')
        found = bytearray()
        while not self._take('"'):
            char = self._text[self._at]
            self._at += 1
            if char != "\\":
                found += char.encode()
                continue
            octal = re.compile(r"[0-7]{3}").match(self._text, self._at)
            if octal:
                found.append(int(octal.group(), 8))
                self._at += 3
                continue
            escape = self._text[self._at]
            found += _ESCAPES.get(escape, escape).encode()
            self._at += 1
        return found.decode()

    def value(self) -> Any:
        """A string, a dict, or a list; of a list of results only the values."""
        if self._take("{"):
            return self.results("}")
        if self._take("["):
            return self._list()
        return self.string()

    def _list(self) -> list[Any]:
        found: list[Any] = []
        while not self._take("]"):
            if found:
                self._need(",")
            name = _NAME.match(self._text, self._at)
            self._at = name.end() if name else self._at
            found.append(self.value())
        return found

    def results(self, end: str = "") -> dict[str, Any]:
        """`a=...,b=...` up to `end`, or to the end of the line. No name stands there twice."""
        found: dict[str, Any] = {}
        while not (self._take(end) if end else self.done()):
            if found:
                self._need(",")
            name = _NAME.match(self._text, self._at)
            assert name is not None, self._text[self._at :]
            self._at = name.end()
            assert name.group(1) not in found
            found[name.group(1)] = self.value()
        return found


@dataclass
class Record:
    """A record: its sign (^ the answer, * + = what happens beside), its class, its results."""

    token: str
    sign: str
    kind: str
    results: dict[str, Any]


@dataclass
class Answer:
    """What one command brought: its result record and what came before that."""

    kind: str
    results: dict[str, Any]
    beside: list[Record]
    console: str
    log: str


@dataclass
class _Heard:
    beside: list[Record] = field(default_factory=list)
    streams: dict[str, str] = field(default_factory=lambda: dict.fromkeys(_STREAMS.values(), ""))
    foreign: list[str] = field(default_factory=list)  # what the program itself printed


def record(line: str) -> Record | None:
    """The record that the line is, if it is one."""
    head = _RECORD.match(line)
    if head is None:
        return None
    results = _Reader(line[head.end() :]).results() if head.group(4) else {}
    return Record(head.group(1), head.group(2), head.group(3), results)


class MiSession:
    """A running gdb; `heard` is everything that belongs to no answer yet."""

    def __init__(self, arguments: Sequence[str | Path], interpreter: str = "mi3") -> None:
        command = [
            GDB,
            "-nx",
            "-q",
            *INDEX,
            f"-i={interpreter}",
            "-iex",
            "set debuginfod enabled off",
        ]
        self._gdb = subprocess.Popen(
            [*command, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
            encoding="utf-8",
        )
        self._token = 0
        self._heard = _Heard()

    def __enter__(self) -> MiSession:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._gdb.stdin is not None
        self._gdb.stdin.close()  # gdb ends with its input, and kills what it runs
        try:
            self._gdb.wait(20)
        except subprocess.TimeoutExpired:
            self._gdb.kill()
            self._gdb.wait()

    def _next(self) -> Record | None:
        """Reads a line; None for what is no record, which is kept."""
        assert self._gdb.stdout is not None
        line = self._gdb.stdout.readline()
        assert line, "gdb has ended"
        line = line.rstrip("\n")
        stream = _STREAMS.get(line[:1])
        if stream is not None and line[1:2] == '"':
            self._heard.streams[stream] += _Reader(line[1:]).string()
            return None
        found = record(line)
        if found is None and line.strip() != "(gdb)":
            self._heard.foreign.append(line)
        return found

    def ask(self, command: str) -> Answer:
        """Sends an MI command and reads up to its answer."""
        assert self._gdb.stdin is not None
        self._token += 1
        self._gdb.stdin.write(f"{self._token}{command}\n")
        self._gdb.stdin.flush()
        while True:
            found = self._next()
            if found is None:
                continue
            if found.sign == "^" and found.token == str(self._token):
                heard, self._heard = self._heard, _Heard()
                streams = heard.streams
                return Answer(
                    found.kind, found.results, heard.beside, streams["console"], streams["log"]
                )
            self._heard.beside.append(found)

    def console(self, command: str) -> Answer:
        """A command of gdb's command line."""
        quoted = command.replace("\\", "\\\\").replace('"', '\\"')
        return self.ask(f'-interpreter-exec console "{quoted}"')

    def wait_for_stop(self) -> dict[str, Any]:
        """The results of the next *stopped."""
        while True:
            for found in self._heard.beside:
                if found.kind == "stopped":
                    self._heard.beside.remove(found)
                    return found.results
            more = self._next()
            if more is not None:
                self._heard.beside.append(more)
