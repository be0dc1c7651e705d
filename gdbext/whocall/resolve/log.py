"""One log, from its file to text or JSON."""

from __future__ import annotations

import io
import os
import select
import stat
from collections.abc import Iterator
from types import TracebackType

from whocall.base.errors import Error
from whocall.base.file_search import Search
from whocall.base.long_work import share_of, working
from whocall.report.form.style import Style
from whocall.resolve.complaints import complaints
from whocall.resolve.facts.context import Context
from whocall.resolve.facts.maps import parse_mapping
from whocall.resolve.lines import read_chunks
from whocall.resolve.modules import Modules
from whocall.resolve.other_files import stranger
from whocall.resolve.record import looks_like_records, read_records
from whocall.resolve.record_text import record_lines
from whocall.resolve.resolve_json import resolve_json
from whocall.resolve.resolver import Line, Resolver
from whocall.resolve.sources import HEAD, called, opened, read_from, require_directories
from whocall.resolve.text import resolved

_MOST_RECORDS = 1 << 26  # bytes
_QUIET = 0.3  # seconds without a byte: whoever watches a log sees what there is
_COPY = "give a copy of /proc/PID/maps"


class Log:
    """Read once, as text or as JSON."""

    def __init__(self, path: str, stream: io.BufferedReader, resolver: Resolver) -> None:
        self.path = path
        self.is_live = stream.isatty() or not _is_file(stream)
        self._stream = stream
        self._resolver = resolver
        self._complaints: list[str] = []
        self._kept = "\t"  # of what a terminal would obey

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stream.close()

    def _chunks(self) -> Iterator[list[tuple[str, str, bool]]]:
        """The lines of the log, or those that its records are made into."""
        yield from read_from(self.path, self._pieces())

    def _pieces(self) -> Iterator[list[tuple[str, str, bool]]]:
        head = self._stream.peek(HEAD)
        if looks_like_records(head):
            self._kept = ""
            yield from self._recorded()
            return
        complaint = stranger(head, self.path)
        if complaint:
            raise Error(complaint, path=self.path)
        if not head:
            self._complaints.append(f"{called(self.path)} is empty: there is nothing to name")
        for chunk in read_chunks(self._stream, self._is_quiet if self.is_live else None):
            working(f"Resolving {called(self.path)}", share_of(self._stream))
            yield chunk

    def _is_quiet(self) -> bool:
        """Whether nothing comes at present from a log that is still being written."""
        ready, _, _ = select.select([self._stream], [], [], _QUIET)
        return not ready

    def _recorded(self) -> Iterator[list[tuple[str, str, bool]]]:
        data = self._stream.read(_MOST_RECORDS + 1)
        name = called(self.path)
        if len(data) > _MOST_RECORDS:
            raise Error(
                f"{name} is larger than {_MOST_RECORDS >> 20} MiB, which records of crashes are"
                " not: name the file or the ring that libwhocall writes"
            )
        found, damages = read_records(data, name)
        self._complaints += damages
        for at, record in enumerate(found):
            working(f"Resolving {name}", at / len(found))
            yield [(line, "\n", True) for line in record_lines(record)]

    def lines(self) -> Iterator[Line]:
        """Every line, with what is known of the places in it."""
        for chunk in self._chunks():
            yield from self._resolver.read(chunk) if chunk else self._resolver.rest()
        yield from self._resolver.rest()

    def text(self, style: Style) -> Iterator[str]:
        """The log with names in place, some lines at a time."""
        for chunk in self._chunks():
            lines = self._resolver.read(chunk) if chunk else self._resolver.rest()
            yield "".join(resolved(line, style, self._kept) for line in lines)
        yield "".join(resolved(line, style, self._kept) for line in self._resolver.rest())

    def json(self) -> Iterator[str]:
        """The schema whocall.resolve/1, some places at a time."""
        return resolve_json(self.path, self.lines(), self._resolver.modules, self.warnings)

    def warnings(self) -> list[str]:
        """What was wrong and what was not to be had, in sentences; all of them at the end. The last
        counts what was not understood.
        """
        modules = self._resolver.modules
        left = self._resolver.count.sentence()
        return [
            *self._complaints,
            *self._nothing_named(),
            *complaints(modules.asked_for()),
            *modules.left_out(),
            *([left] if left else []),
        ]

    def _nothing_named(self) -> Iterator[str]:
        if self._complaints or self._resolver.count.located:
            return
        if self._resolver.count.places:
            yield (
                f"nothing tells in which files the addresses in {called(self.path)} lie: name the"
                " program by --exe, or a copy of /proc/PID/maps by --maps"
            )
        else:
            yield (
                f"no line of {called(self.path)} is of a crash in a form that is known here;"
                " addresses in any text are named with --maps, a copy of /proc/PID/maps"
            )


def _is_file(stream: io.BufferedReader) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except OSError:
        return False


def _read_maps(path: str, context: Context) -> None:
    """A copy of /proc/PID/maps. Raises Error where there is no mapping in it."""
    with opened(path, _COPY) as file:
        for chunk in read_from(path, read_chunks(file)):
            for line, _, whole in chunk:
                mapping = parse_mapping(line) if whole else None
                if mapping is not None:
                    context.maps.add(mapping)
    if not context.maps:
        raise Error(f"{path}: there is no mapping in it; {_COPY}")


def open_log(
    path: str, search: Search, demangle: bool = True, exe: str = "", maps: str | None = None
) -> Log:
    """The log at `path`; "-" is standard input. Raises Error."""
    require_directories(search.directories)
    context = Context(exe)
    if maps is not None:
        _read_maps(maps, context)
    return Log(path, opened(path), Resolver(context, Modules(search, demangle, exe)))
