"""The one place where a crash's file becomes a process image."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whocall.base.errors import Error
from whocall.base.regular_file import open_regular

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whocall.base.file_search import Search
    from whocall.base.process_image import ProcessImage

_TIME = "%Y-%m-%d %H:%M:%S UTC"


@dataclass(frozen=True)
class Opened:
    """A process image, and what the reporter of the crash noted beside it."""

    image: ProcessImage
    host: str | None = None
    time: float | None = None  # of the crash; seconds since 1970


def open_crash(path: str, search: Search) -> Opened:
    """The crash in the file or the directory `path`. Raises Error."""
    from whocall.dumps.origin import known
    from whocall.inputs.opening import open_core

    _require_contents(path)
    image = open_core(path, search=search)
    noted = known(image.origin)
    return Opened(image, noted.get("host"), seconds_of(noted))


def _require_contents(path: str) -> None:
    if Path(path).is_dir():
        return
    try:
        with open_regular(path) as opened:
            if not opened.read(1):
                raise Error(f"{path}: the file is empty, as where there was no room to write it")
    except OSError as error:
        raise Error(f"{path}: {error.strerror}; make it readable, or leave it out") from error


def seconds_of(noted: Mapping[str, str]) -> float | None:
    """When the crash was, where its reporter noted that; seconds since 1970."""
    from datetime import datetime, timezone

    try:
        when = datetime.strptime(noted.get("time", ""), _TIME)
    except ValueError:
        return None
    return when.replace(tzinfo=timezone.utc).timestamp()
