"""The key of something kept: a hash of all that decides what it becomes.

A recipe is nested data. Text, bytes and numbers stand for themselves, a Path for the contents of
its file (wherever the checkout lies), a Tool for whatever is installed under that name.
"""

from __future__ import annotations

import dataclasses
import hashlib
import platform
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Union

LIBRARIES = (
    "/lib/*/ld-linux*.so.*",
    "/lib/*/lib[cm].so.6",
    "/lib/*/libstdc++.so.6",
    "/lib/*/libgcc_s.so.1",
    "/lib32/lib*.so.[0-9]",
    "/usr/lib/*/libc.a",
    "/usr/lib32/libc.a",
)
"""What every program here is linked with, on the machines that have it."""

Plain = Union[str, bytes, int, float, bool, None]


@dataclasses.dataclass(frozen=True)
class Tool:
    """A program in PATH, or at a path of its own."""

    name: str


def identity(path: Path) -> tuple[str, int, int]:
    """Where a file really lies, its size and its time: what an upgrade changes."""
    real = path.resolve()
    status = real.stat()
    return str(real), status.st_size, status.st_mtime_ns


@cache
def _found(name: str) -> tuple[object, ...]:
    path = shutil.which(name)
    return identity(Path(path)) if path else ("not installed",)


@cache
def machine() -> tuple[object, ...]:
    """Kernel and C libraries: they are in every core."""
    files = sorted(path for pattern in LIBRARIES for path in Path("/").glob(pattern[1:]))
    return platform.release(), platform.version(), *map(identity, files)


def compilers(*names: str) -> tuple[object, ...]:
    """Compilers with what they call and link with. (Their own parts are upgraded with them.)"""
    return tuple(map(Tool, (*names, "as", "ld", "strip", "objcopy"))), machine()


def _words(part: object) -> Iterator[bytes]:
    """Each with its kind and its length, so that no two recipes read the same."""
    if dataclasses.is_dataclass(part) and not isinstance(part, (Tool, type)):
        fields = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
        part = (type(part).__name__, fields)
    if isinstance(part, Tool):
        part = ("tool", *_found(part.name))
    elif isinstance(part, Path):
        part = ("file", part.read_bytes())
    if isinstance(part, (tuple, list)):
        yield b"list %d" % len(part)
        for each in part:
            yield from _words(each)
    elif isinstance(part, dict):
        yield from _words([*part.items()])
    elif isinstance(part, (set, frozenset)):
        yield from _words(sorted(part))
    elif isinstance(part, bytes):
        yield b"bytes %d" % len(part) + part
    elif part is None or isinstance(part, (str, int, float)):
        text = str(part).encode("utf-8", "surrogateescape")
        yield b"%s %d " % (type(part).__name__.encode(), len(text)) + text
    else:
        raise TypeError(f"{part!r} says nothing that lasts")


def key_of(recipe: object) -> str:
    """The name of what the recipe makes: hexadecimal digits."""
    whole = hashlib.sha256()
    for word in _words(recipe):
        whole.update(word)
    return whole.hexdigest()[:32]


SOURCES = (".py", ".c", ".cpp", ".h", ".go", ".rs")


def sources(
    *folders: Path, but: tuple[str, ...] = (), suffixes: tuple[str, ...] = SOURCES
) -> list[tuple[str, Path]]:
    """The source files right in some folders, as parts of a recipe; tests are none.

    Without suffixes, all files.
    """
    return [
        (path.name, path)
        for folder in folders
        for path in sorted(folder.iterdir())
        if path.is_file()
        and (path.suffix in suffixes or not suffixes)
        and not path.name.startswith(("test_", "__"))
        and path.name not in but
    ]
