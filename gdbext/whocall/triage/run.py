"""A run: which cores are new to the store, their results as they come, and what they amount to."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whocall.triage.opening import is_crash_directory
from whocall.triage.store import Store
from whocall.triage.summary import summarize
from whocall.triage.work import Settings, identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Json = dict[str, Any]

# How files begin that may be crashes; see whocall.dumps for what each is.
_BEGINNINGS = (
    b"MDMP", b"PMDM", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"\x1f\x8b", b"\x04\x22\x4d\x18", b"BZh",
    b"ProblemType:",
)  # fmt: skip


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
        if not file.is_file():  # opening a pipe would wait for its writer
            return False
        with file.open("rb") as opened:
            head = opened.read(18)
    except OSError:
        return "core" in file.name
    if head[:4] == b"\x7fELF" and len(head) == 18:
        return int.from_bytes(head[16:18], "big" if head[5] == 2 else "little") == 4
    name = file.name
    return (
        head.startswith(_BEGINNINGS)
        or name.startswith("core")
        or name.endswith((".core", ".dmp", ".crash"))
    )


def crashes_among(named: Iterable[str]) -> Iterator[str]:
    """The files that `named` names, whatever they are, and the crashes below its directories.

    Raises Error where one is not there.
    """
    from whocall.core.errors import Error

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
        if is_crash_directory(place):
            folders.clear()
            yield place
            continue
        for name in sorted(files):
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
) -> None:
    """Keeps each result when it comes."""
    for result in results:
        store.add(result)
        told(result)


def conclude(store: Store, older: str | None = None) -> Findings:
    """The buckets of everything that the store has; `older` is the path of a store of earlier.

    Raises Error where that is none.
    """
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
