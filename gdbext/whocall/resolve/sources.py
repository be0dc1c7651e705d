"""Opens what a log is read from; whatever cannot be opened ends in a sentence."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from whocall.base.errors import Error
from whocall.base.regular_file import open_stream, standard_input

HEAD = 1 << 16  # bytes that may be looked at before they are read
_REMEDIES = {
    errno.ENOENT: "look for another name, or pipe the log into `whocall resolve`",
    errno.EISDIR: "name a file in it, or pipe several into `whocall resolve`",
    errno.EACCES: "let its owner pipe it into `whocall resolve`",
}


def called(path: str) -> str:
    """What the user calls it; "-" is standard input."""
    return "standard input" if path == "-" else path


def unread(path: str, error: OSError, remedy: str = "") -> Error:
    """What to raise where a file cannot be opened or read; `remedy` is what helps in any case."""
    reason = error.strerror or str(error)
    remedy = remedy or _REMEDIES.get(error.errno or 0, "copy it to where it can be read")
    return Error(
        f"{called(path)} cannot be read: {reason}; {remedy}",
        path=path,
        reason=reason,
        remedy=remedy,
    )


def opened(path: str, remedy: str = "") -> io.BufferedReader:
    """The file, from its beginning. Raises Error, with the remedy if one is given."""
    try:
        return standard_input(HEAD) if path == "-" else open_stream(path, HEAD)
    except OSError as error:
        raise unread(path, error, remedy) from error


def read_from(
    path: str, pieces: Iterable[list[tuple[str, str, bool]]]
) -> Iterator[list[tuple[str, str, bool]]]:
    """The same pieces, and an Error where a disk or a network fails on the way."""
    try:
        yield from pieces
    except OSError as error:
        raise unread(path, error) from error


def require_directories(paths: Iterable[str]) -> None:
    """Raises Error for one that cannot be looked through."""
    for path in paths:
        try:
            mode = Path(path).stat().st_mode
        except FileNotFoundError:
            raise Error(
                f"{path}: there is no such directory to look for symbols in; name one that holds"
                " programs, debug files or Breakpad files"
            ) from None
        except OSError as error:
            raise Error(f"{path} cannot be looked through: {error.strerror}; copy it") from error
        if not stat.S_ISDIR(mode):
            raise Error(f"{path} is a file: --symbols takes the directory that holds it")
        if not os.access(path, os.R_OK | os.X_OK):
            raise Error(f"{path} may not be read by you: copy its files, or ask its owner")
