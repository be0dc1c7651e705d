"""The one place where a crash's file becomes a process image."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whocall.core.errors import Error

if TYPE_CHECKING:
    from whocall.core.image import ProcessImage
    from whocall.core.search import Search


@dataclass(frozen=True)
class Opened:
    """A process image, and what its file says beside it."""

    image: ProcessImage
    host: str | None = None
    time: float | None = None  # of the crash; seconds since 1970


def open_crash(path: str, search: Search) -> Opened:
    """The crash in the file `path`. Raises Error."""
    from whocall.core.image import open_core

    try:
        with Path(path).open("rb") as file:
            if not file.read(1):
                raise Error(f"{path}: the file is empty; its disk may have been full")
    except OSError as error:
        raise Error(f"{path}: {error.strerror}") from error
    return Opened(open_core(path, search=search))
