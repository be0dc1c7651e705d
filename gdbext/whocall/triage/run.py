"""A run: which cores are new to the store, their results as they come, and what they amount to."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whocall.base.long_work import stage, working
from whocall.base.regular_file import open_regular
from whocall.dumps.abrt import is_problem
from whocall.dumps.kinds import HEAD, PACKINGS, elf_type, kind_of
from whocall.triage.store import Store
from whocall.triage.summary import summarize
from whocall.triage.work import Settings, identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Json = dict[str, Any]

_MOST_SAID = 8  # sentences on what cores would have cost

_KINDS = ("core", "minidump", "apport")
# Names of damaged files that may be crashes: whatever else there is lies beside them.
_CRASHES = re.compile(r"core|crash|dmp|dump", re.IGNORECASE)


@dataclass
class Findings:
    """What the store amounts to."""

    store: Store
    buckets: list[Json]
    numbers: dict[str, int]  # index of the bucket, by signature
    total: int
    failed: int
    compared_with: str | None = None
    warnings: list[str] = field(default_factory=list)


def may_be_crash(path: str) -> bool:
    """Whether a file that nobody named by itself looks like a crash: by its first bytes, or, where
    those are damaged, by its name.
    """
    file = Path(path)
    try:
        if not file.is_file():
            return False
        with open_regular(path) as opened:
            head = opened.read(HEAD)
    except OSError:
        return _CRASHES.search(file.name) is not None
    if kind_of(head) in _KINDS:
        return True
    if kind_of(head) in PACKINGS and _holds_crash(path):
        return True
    if elf_type(head) in (1, 2, 3):  # objects and programs
        return False
    return _CRASHES.search(file.name) is not None


def _holds_crash(path: str) -> bool:
    """Whether what is packed begins as a crash does."""
    from whocall.base.errors import Error
    from whocall.dumps.streams import DamagedStreamError, Stream

    try:
        with open_regular(path) as opened:
            return kind_of(Stream(opened, path).read(HEAD)) in _KINDS
    except (OSError, DamagedStreamError, Error):
        return False


def crashes_among(named: Iterable[str]) -> Iterator[str]:
    """The files that `named` names, whatever they are, and the crashes below its directories.

    Raises Error where one is not there.
    """
    from whocall.base.errors import Error

    seen: set[str] = set()
    for path in named:
        if not os.path.lexists(path):
            raise Error(f"{path}: there is no such file or directory; name cores or directories")
        found = _below(path) if Path(path).is_dir() else iter([path])
        for each in found:
            if each not in seen:
                seen.add(each)
                yield each


def _below(folder: str) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        folders.sort()
        if is_problem(place) and any(name.startswith("coredump") for name in files):
            folders.clear()
            yield place
            continue
        for name in sorted(files):
            working(f"Looking for cores in {folder}")
            path = str(Path(place) / name)
            if may_be_crash(path):
                yield path


def wanted(paths: Iterable[str], store: Store, settings: Settings, retry: bool) -> list[str]:
    """Those whose results the store does not have."""
    left = []
    for path in paths:
        size, mtime = identity(path)
        if not store.done(path, size, mtime, settings.engine, retry=retry):
            left.append(path)
    return left


def gather(
    results: Iterable[Json], store: Store, told: Callable[[Json], None] = lambda result: None
) -> list[str]:
    """Keeps each result when it comes. Sentences on what was left out of cores, as it would have
    cost too much: of many the first.
    """
    said: dict[str, None] = {}
    for result in results:
        for sentence in result.pop("left_out", ()):
            if len(said) < _MOST_SAID:
                said[sentence] = None
        store.add(result)
        told(result)
    return list(said)


def conclude(store: Store, older: str | None = None) -> Findings:
    """The buckets of everything that the store has; `older` is the path of a store of earlier.

    Raises Error where that is none.
    """
    stage("putting cores into buckets")
    before = Store(older, read_only=True) if older is not None else None
    buckets, numbers = summarize(store, before)
    if before is not None:
        before.close()
    found = Findings(store, buckets, numbers, store.total(), store.failed(), older)
    if store.unwritten:
        found.warnings.append(
            f"{store.path}: {store.unwritten} results have no room there ({store.trouble});"
            " free some and run the same command again, which takes up from there"
        )
    return found
