"""One log, from its file to text or JSON."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from whocall.core.errors import Error
from whocall.core.long_work import working
from whocall.core.search import Search
from whocall.dumps.streams import share_of
from whocall.report.form.style import Style
from whocall.resolve.complaints import complaints
from whocall.resolve.facts.context import Context
from whocall.resolve.facts.maps import parse_mapping
from whocall.resolve.lines import read_chunks
from whocall.resolve.modules import Modules
from whocall.resolve.record import looks_like_records, read_records
from whocall.resolve.record_text import record_lines
from whocall.resolve.resolve_json import resolve_json
from whocall.resolve.resolver import Line, Resolver
from whocall.resolve.text import resolved

_HEAD = 1 << 16  # bytes that tell a log from records
_MOST_RECORDS = 1 << 28  # bytes


class Log:
    """Read once, as text or as JSON."""

    def __init__(self, path: str, stream: io.BufferedReader, resolver: Resolver) -> None:
        self.path = path
        self.is_live = stream.isatty() or not _is_file(stream)
        self._stream = stream
        self._resolver = resolver
        self._complaints: list[str] = []

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._stream is not sys.stdin.buffer:
            self._stream.close()

    def _chunks(self) -> Iterator[list[tuple[str, str, bool]]]:
        """The lines of the log, or those that its records are made into."""
        try:
            if looks_like_records(self._stream.peek(_HEAD)):
                yield from self._recorded()
            else:
                for chunk in read_chunks(self._stream):
                    working(f"Resolving {self.path}", share_of(self._stream))
                    yield chunk
        except OSError as error:
            raise Error(f"{self.path}: {error.strerror}") from error

    def _recorded(self) -> Iterator[list[tuple[str, str, bool]]]:
        data = self._stream.read(_MOST_RECORDS + 1)
        if len(data) > _MOST_RECORDS:
            raise Error(f"{self.path}: is larger than 256 MiB, which records of crashes are not")
        found, self._complaints = read_records(data, self.path)
        for at, record in enumerate(found):
            working(f"Resolving {self.path}", at / len(found))
            yield [(line, "\n", True) for line in record_lines(record)]

    def lines(self) -> Iterator[Line]:
        """Every line, with what is known of the places in it."""
        for chunk in self._chunks():
            yield from self._resolver.read(chunk)
        yield from self._resolver.rest()

    def text(self, style: Style, escape: bool) -> Iterator[str]:
        """The log with names in place, some lines at a time."""
        for chunk in self._chunks():
            yield "".join(resolved(line, style, escape) for line in self._resolver.read(chunk))
        yield "".join(resolved(line, style, escape) for line in self._resolver.rest())

    def json(self) -> Iterator[str]:
        """The schema whocall.resolve/1, some places at a time."""
        return resolve_json(self.path, self.lines(), self._resolver.modules, self._complaints)

    def warnings(self) -> list[str]:
        """What was not to be had, in sentences."""
        return self._complaints + complaints(self._resolver.modules.asked_for())


def _is_file(stream: io.BufferedReader) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except OSError:
        return False


def _read_maps(path: str, context: Context) -> None:
    """A copy of /proc/PID/maps. Raises Error where there is no mapping in it."""
    try:
        with Path(path).open(encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                mapping = parse_mapping(line.rstrip("\n"))
                if mapping is not None:
                    context.maps.add(mapping)
    except OSError as error:
        raise Error(f"{path}: {error.strerror}") from error
    if not context.maps:
        raise Error(f"{path}: there is no mapping in it; give a copy of /proc/PID/maps")


def open_log(
    path: str, search: Search, demangle: bool = True, exe: str = "", maps: str | None = None
) -> Log:
    """The log at `path`; "-" is standard input. Raises Error."""
    for directory in search.directories:
        if not Path(directory).is_dir():
            raise Error(f"{directory}: there is no such directory to look for symbols in")
    context = Context(exe)
    if maps is not None:
        _read_maps(maps, context)
    resolver = Resolver(context, Modules(search, demangle, exe))
    if path == "-":
        return Log("-", sys.stdin.buffer, resolver)  # type: ignore[arg-type]
    try:
        return Log(path, io.BufferedReader(io.FileIO(path), _HEAD), resolver)
    except OSError as error:
        raise Error(f"{path}: {error.strerror}") from error
