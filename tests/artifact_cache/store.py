"""A folder of things that were made once, each in a folder of its own named by a hash.

What is made stays where it was made: cores name the paths of their programs. So nothing is renamed
into place but the seal, written last, which lists the files with sizes and times. An entry without
a seal was interrupted, and one whose files are no longer as listed is damaged: both are made anew.
One maker at a time holds an entry's lock; those who come meanwhile wait, and find it made.

Whoever uses the store shares a lock on all of it. The last one to leave takes that lock alone and
removes what has not been used for longest, until the rest is within the bound.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

FORM = 1
"""Of the seals; another form is none."""

A_RUN = 2 * 3600.0
"""Seconds that a run of all tests takes at most."""

Make = Callable[[Path], Iterable[Path]]
"""Fills a folder; returns the files elsewhere on which the contents lean."""


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _look(path: Path) -> list[int] | None:
    """What of a file is compared; None where it is gone."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns]


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())


class Store:
    """Entries below `root`, at most `bound` bytes of disk when nobody uses them."""

    def __init__(self, root: Path, bound: int) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.root = root.resolve()
        self._bound = bound
        self._in_use: TextIO = (self.root / "in-use").open("w")
        fcntl.flock(self._in_use, fcntl.LOCK_SH)

    def entry(self, key: str, make: Make) -> Path:
        """The folder of the entry, made unless it is there and whole."""
        place = self.root / key
        if not self._is_whole(key):
            with _locked(self.root / f"{key}.lock"):
                if not self._is_whole(key):
                    self._remove(key)
                    place.mkdir()
                    self._seal(key, make(place))
        return place

    def drop(self, key: str) -> None:
        """Forget an entry that turned out to be of no use."""
        with _locked(self.root / f"{key}.lock"):
            self._remove(key)

    def close(self) -> None:
        """Leave the store; the last one out prunes it."""
        try:
            fcntl.flock(self._in_use, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            pass  # others are still here, and one of them will be the last
        else:
            self._prune()
        self._in_use.close()

    def _seal_of(self, key: str) -> Path:
        return self.root / f"{key}.seal"

    def _is_whole(self, key: str) -> bool:
        seal = self._seal_of(key)
        try:
            said = json.loads(seal.read_text())
            whole = said["form"] == FORM and all(
                _look(self.root / path) == look for path, look in said["files"].items()
            )
            if whole:
                os.utime(seal)  # used just now
        except (OSError, ValueError, KeyError, AttributeError, TypeError):
            return False
        return whole

    def _seal(self, key: str, outside: Iterable[Path]) -> None:
        place = self.root / key
        own = _files(place)
        files = {str(path.relative_to(self.root)): _look(path) for path in own}
        files.update({str(path): _look(path) for path in outside if place not in path.parents})
        size = sum(path.lstat().st_blocks * 512 for path in own)
        draft = self.root / f"{key}.draft"
        draft.write_text(json.dumps({"form": FORM, "size": size, "files": files}))
        draft.rename(self._seal_of(key))

    def _remove(self, key: str) -> None:
        self._seal_of(key).unlink(missing_ok=True)
        shutil.rmtree(self.root / key, ignore_errors=True)

    def _prune(self) -> None:
        """With nobody else in the store."""
        sealed = {path.stem for path in self.root.glob("*.seal")}
        for path in self.root.iterdir():
            if path.is_dir() and path.name not in sealed:
                shutil.rmtree(path, ignore_errors=True)
            elif path.suffix in (".lock", ".draft"):
                path.unlink()
        seals = sorted(self.root.glob("*.seal"), key=lambda path: path.stat().st_mtime_ns)
        sizes = {path.stem: self._size(path) for path in seals}
        total = sum(sizes.values())
        missed = 0
        for seal, size in zip(seals, sizes.values()):
            if total <= self._bound:
                break
            missed += time.time() - seal.stat().st_mtime < A_RUN
            self._remove(seal.stem)
            total -= size
        if missed:  # which costs every run half of its time, and nothing else would show it
            bound = f"{self._bound / (1 << 30):.3g} GiB"
            print(
                f"{self.root}: {missed} entries that were used in the last hours are beyond its"
                f" bound of {bound}, and will be made anew",
                file=sys.stderr,
            )

    @staticmethod
    def _size(seal: Path) -> int:
        try:
            return int(json.loads(seal.read_text())["size"])
        except (OSError, ValueError, KeyError, TypeError):
            return 0
