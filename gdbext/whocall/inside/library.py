"""Finds libwhocall and loads it."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from whocall.base.errors import Error
from whocall.base.loader import native_directories
from whocall.inside.layout import declare

_NAME = "libwhocall.so"


def installed(name: str) -> Iterator[str]:
    """The files of that name beside the native module and where pip puts them."""
    for folder in (*map(Path, native_directories()), Path(sys.prefix) / "lib"):
        if (folder / name).is_file():
            yield str(folder / name)


def _places() -> Iterator[str]:
    """The same, and where the dynamic linker looks."""
    yield from installed(_NAME)
    yield from installed(f"{_NAME}.0")
    yield f"{_NAME}.0"


def _loaded_already() -> ctypes.CDLL | None:
    """The process's own, as libwhocall-crash.so is that the process was started with."""
    here = ctypes.CDLL(None, use_errno=True)
    return here if hasattr(here, "whocall_annotate") else None


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL:
    """libwhocall. Raises Error where it is not found, or is of another version."""
    found = _loaded_already()
    refused = ""
    for path in () if found else _places():
        try:
            found = ctypes.CDLL(path, use_errno=True)
            break
        except OSError as error:
            refused = str(error)
    if found is None:
        raise Error(
            f"{_NAME} cannot be loaded ({refused}): install whocall with its runtime, by pip or"
            " `cmake --install BUILD --component runtime`"
        )
    try:
        declare(found)
    except AttributeError as error:
        raise Error(f"{_NAME} is of another version than whocall's package: {error}") from None
    return found
