"""What tests look at and whocall has no part in, made once on a machine: programs, cores, records
of single steps, answers of other tools.

    built = kept(recipe, lambda place: build_in(place))

The second time `built` is what was returned the first time, and its files lie where they lay. They
are everyone's: who wants to change one works on a copy. `WHOCALL_TEST_CACHE` moves the folder;
`off` makes everything anew, in a folder that goes away at the end.
"""

from __future__ import annotations

import atexit
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TypeVar

from artifact_cache.recipe import Tool, compilers, key_of, machine, sources
from artifact_cache.store import Store

__all__ = [
    "Tool",
    "compilers",
    "default_place",
    "is_kept",
    "kept",
    "kept_copy",
    "machine",
    "sources",
]

BOUND = 16 << 30
"""Bytes of disk. One run of all tests uses 9 GiB: where less is kept, each run removes, as not used
for longest, what the next one begins with, and makes everything anew."""
VALUE = "value.pickle"

T = TypeVar("T")


def default_place() -> str:
    """Below the user's cache folder; `off` where there is no such thing."""
    try:
        cache_home = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    except RuntimeError:
        return "off"
    return str(Path(cache_home) / "whocall-tests")


def bound_on_disk(place: Path) -> int:
    """`BOUND`, or half of the disk where that is less; in bytes."""
    place.mkdir(parents=True, exist_ok=True)
    return min(BOUND, shutil.disk_usage(place).total // 2)


@cache
def _store() -> Store:
    place = os.environ.get("WHOCALL_TEST_CACHE") or default_place()
    if place == "off":
        place = tempfile.mkdtemp(prefix="whocall-tests-")
        atexit.register(shutil.rmtree, place, ignore_errors=True)
    store = Store(Path(place), bound_on_disk(Path(place)))
    owner = os.getpid()
    atexit.register(lambda: store.close() if os.getpid() == owner else None)
    return store


def is_kept(path: Path) -> bool:
    """Whether a file is one of those that are kept."""
    return _store().root in path.parents


def kept(
    recipe: object,
    make: Callable[[Path], T],
    outside: Callable[[T], Iterable[Path]] = lambda _: (),
    store: Store | None = None,
) -> T:
    """What `make` returns when given a new folder, now or earlier.

    `recipe` says all that decides about it (see recipe.py), `outside` which files elsewhere do so
    that were not known before, such as the libraries that a process had loaded.
    """

    def fill(place: Path) -> Iterable[Path]:
        value = make(place)
        (place / VALUE).write_bytes(pickle.dumps(value, protocol=4))
        return outside(value)

    store = store or _store()
    key = key_of(recipe)
    try:
        value: T = pickle.loads((store.entry(key, fill) / VALUE).read_bytes())
    except (pickle.UnpicklingError, AttributeError, ImportError, EOFError, TypeError):
        store.drop(key)  # of other classes than ours
        value = pickle.loads((store.entry(key, fill) / VALUE).read_bytes())
    return value


def kept_copy(recipe: object, make: Callable[[Path], object], to: Path) -> Path:
    """A copy of the one file that `make` makes where it is told, now or earlier.

    For what does not hang on where it lies, such as a program that nobody has run; the copy may be
    changed.
    """

    def fill(place: Path) -> Path:
        make(place / "file")
        return place / "file"

    return Path(shutil.copy(kept(recipe, fill), to))
