"""Standard output and error as what they may be: closed, full, for other encodings, a terminal.

Output that cannot be written ends a command with a sentence. Where complaints cannot be written
there is nobody to tell: they are dropped, and the exit status tells.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys

from whocall.base.errors import Error
from whocall.cli.terminal import Guarded

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any


class OutputError(Error):
    """Standard output cannot be written: nothing more is."""


class _Output(io.FileIO):
    """Standard output's bytes. A pipe whose reader has gone stays what it is."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except BrokenPipeError:
            raise
        except OSError as error:
            reason = "it is closed" if error.errno == errno.EBADF else error.strerror
            raise OutputError(f"standard output cannot be written: {reason}") from error


class _Complaints(io.FileIO):
    """Standard error's bytes."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except OSError:
            return len(data)


def prepare() -> None:
    """What is closed is opened, so that no file takes its number and gets what is said; streams of
    Python are put before what tells faults. Nothing is done to streams that are no descriptors'.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # Reading from the one and writing to the others go on to fail.
            os.open(os.devnull, os.O_RDONLY if number else os.O_WRONLY)
    sys.stdout = _named(sys.stdout, 1, _Output)
    sys.stderr = _named(sys.stderr, 2, _Complaints)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            setattr(sys, name, Guarded(stream))


def _named(stream: Any, number: int, kind: type[io.FileIO]) -> Any:
    """File names need not be UTF-8, nor the terminal: writing one must not fail."""
    if stream is not None and not isinstance(stream, io.TextIOWrapper):
        return stream
    encoding = "utf-8" if stream is None else stream.encoding  # it may have been closed
    utf8 = codecs.lookup(encoding).name == "utf-8"
    errors = "surrogateescape" if utf8 else "backslashreplace"
    if stream is not None and stream not in (sys.__stdout__, sys.__stderr__):
        stream.reconfigure(errors=errors)
        return stream
    by_line = number == 2 or (stream is not None and stream.line_buffering)
    at_once = stream is not None and stream.write_through  # python3 -u
    if stream is not None:
        stream.flush()
    raw = kind(number, "w", closefd=False)
    return io.TextIOWrapper(
        raw if at_once else io.BufferedWriter(raw),
        encoding=encoding, errors=errors, line_buffering=by_line, write_through=at_once,
    )  # fmt: skip


def let_go() -> None:
    """Nothing more is written to standard output, and what waits there is dropped. Python would
    complain when it flushes at exit.
    """
    os.dup2(os.memfd_create("unread"), 1)  # no file, which might not be opened to be written
