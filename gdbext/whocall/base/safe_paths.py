"""Paths that may become part of a command: of gdb's, or of another program's command line.

Names of files come out of cores and archives of strangers. A path is taken whole or refused in a
sentence; nothing is left out of it or put in its place.
"""

from __future__ import annotations

import os
from pathlib import Path

from whocall.base.errors import Error

_MOST = 4095  # bytes, PATH_MAX without its NUL


class AcceptedPath(str):
    """A path that `accepted` let through: absolute, of one line, none too long for the kernel.

    As it begins with "/", nobody takes it for an option, a pipe or a command.
    """

    __slots__ = ()


def _is_control(letter: str) -> bool:
    return letter < " " or "\x7f" <= letter < "\xa0"


def refused(path: str, why: str) -> Error:
    """The error on a path that is not taken."""
    shown = repr(path if len(path) <= 200 else f"{path[:160]}...")
    return Error(
        f"{shown} {why}; rename the file, or give a link to it",
        path=path,
        reason=why,
        remedy="rename the file, or give a link to it",
    )


def accepted(path: str | os.PathLike[str]) -> AcceptedPath:
    """`path`, absolute. Raises Error where its name could pass for something else."""
    text = os.fspath(path)
    if not text:
        raise Error("a file without a name cannot be opened")
    control = next(filter(_is_control, text), "")
    if control:
        names = {"\n": "a line feed", "\r": "a carriage return", "\t": "a tab", "\0": "a NUL"}
        what = names.get(control, "a control character")
        raise refused(text, f"has {what} in its name, which no command can be given")
    # Not normalized, which takes "link/.." for nothing.
    whole = text if text.startswith("/") else str(Path.cwd() / text)
    if len(os.fsencode(whole)) > _MOST:
        raise refused(text, f"has a name of more than {_MOST} bytes")
    return AcceptedPath(whole)
