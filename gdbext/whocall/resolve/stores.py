"""Finds files of programs in directories: by build id, by Breakpad id, or by name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from whocall.core.records import dataclass
from whocall.resolve.elf_head import ElfHead, read_elf_head

MOST_FILES = 200_000  # that are looked at in a directory: a home directory must not cost hours
_GUID = 32  # hex digits
_ORDER = (3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15)


def breakpad_id(build_id: str) -> str:
    """How Breakpad writes a build id (hex): a GUID in upper case, and the age 0."""
    digits = build_id[:_GUID].ljust(_GUID, "0").upper()
    return "".join(digits[2 * at : 2 * at + 2] for at in _ORDER) + "0"


def same_build(wanted: str, found: str) -> bool:
    """Whether two ids are of one build; either may be a build id or Breakpad's form of one."""
    if wanted == found:
        return True
    forms = [name if name != name.lower() else breakpad_id(name) for name in (wanted, found)]
    return (
        wanted != ""
        and found != ""
        and forms[0][:_GUID] == forms[1][:_GUID]
        and (wanted.isupper() != found.isupper())
    )


@dataclass(frozen=True)
class Found:
    """A file that lends names."""

    path: str
    build_id: str  # as the file has it: a build id, or a Breakpad id; "" without one
    head: ElfHead | None  # None for lists of names

    @property
    def worth(self) -> int:
        """How much it tells: lines of source, names, or only where functions are."""
        if self.head is None or self.head.has_debug_info:
            return 2
        return 1 if self.head.has_symbols else 0


def look_at(path: str) -> Found | None:
    """What the file at `path` is; None where it is neither ELF nor a Breakpad file."""
    head = read_elf_head(path)
    if head is not None:
        return Found(path, head.build_id, head)
    try:
        if not os.path.isfile(path):
            return None
        with open(path, "rb", buffering=512) as file:
            words = file.readline(512).split()
    except OSError:
        return None
    if len(words) < 5 or words[0] != b"MODULE":
        return None
    return Found(path, words[3].decode("ascii", "replace").upper(), None)


def base_name(path: str) -> str:
    """The last part of a path."""
    return path.rsplit("/", 1)[-1]


class Directory:
    """One directory that the user named, with all that lies below it."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._by_id: dict[str, list[str]] | None = None
        self._by_name: dict[str, list[str]] = {}

    def in_stores(self, build_id: str, name: str) -> Iterator[str]:
        """Where a file of this build lies if the directory is a store of some kind."""
        yield from self._hashed(build_id)
        yield os.path.join(self.root, build_id, "debuginfo")  # what debuginfod's client keeps
        yield os.path.join(self.root, build_id, "executable")
        if name:
            known = build_id if build_id != build_id.lower() else breakpad_id(build_id)
            stem = name[: -len(".debug")] if name.endswith(".debug") else name
            yield os.path.join(self.root, name, known, stem + ".sym")

    def _hashed(self, build_id: str) -> Iterator[str]:
        for above in (".build-id", "usr/lib/debug/.build-id", "lib/debug/.build-id"):
            hashed = os.path.join(self.root, above, build_id[:2], build_id[2:])
            yield hashed + ".debug"
            yield hashed

    def by_path(self, path: str) -> Iterator[str]:
        """Where the file lies if the directory is a copy of a root directory, or of one with it."""
        if path.startswith("/"):
            yield os.path.join(self.root, path[1:])
            yield os.path.join(self.root, "usr/lib/debug", path[1:] + ".debug")
        name = base_name(path)
        if name:
            yield os.path.join(self.root, name)
            yield os.path.join(self.root, name + ".debug")

    def by_build_id(self, build_id: str) -> list[str]:
        """All files of this build, whatever their names and wherever they are."""
        self._index()
        assert self._by_id is not None
        form = build_id[:_GUID] if build_id != build_id.lower() else breakpad_id(build_id)[:_GUID]
        return self._by_id.get(form, [])

    def by_name(self, name: str) -> list[str]:
        """All files that are called so."""
        self._index()
        return self._by_name.get(name, []) + self._by_name.get(name + ".debug", [])

    def _index(self) -> None:
        if self._by_id is not None:
            return
        self._by_id = {}
        count = 0
        for folder, folders, names in os.walk(self.root):
            folders.sort()
            for name in sorted(names):
                count += 1
                if count > MOST_FILES:
                    return
                found = look_at(os.path.join(folder, name))
                if found is None:
                    continue
                self._by_name.setdefault(name, []).append(found.path)
                if found.build_id:
                    whole = found.build_id
                    form = whole if found.head is None else breakpad_id(whole)
                    self._by_id.setdefault(form[:_GUID], []).append(found.path)


class Stores:
    """All directories, and each file looked at once."""

    def __init__(self, directories: Iterable[str]) -> None:
        self.directories = [Directory(each) for each in directories]
        self._known: dict[str, Found | None] = {}

    def look(self, path: str) -> Found | None:
        """What the file at `path` is."""
        if path not in self._known:
            self._known[path] = look_at(path)
        return self._known[path]

    def of_build(self, build_id: str, name: str) -> Iterator[Found]:
        """The files of a build, those first that cost least to find; the same twice at times."""
        if len(build_id) < 3 or "/" in build_id or "\0" in build_id:
            return
        for directory in self.directories:
            yield from self._same(directory.in_stores(build_id, name), build_id)
        for directory in self.directories:
            yield from self._same(directory.by_build_id(build_id), build_id)

    def _same(self, paths: Iterable[str], build_id: str) -> Iterator[Found]:
        for path in paths:
            found = self.look(path)
            if found is not None and same_build(build_id, found.build_id):
                yield found

    def called(self, path: str, everywhere: bool) -> Iterator[Found]:
        """The files that lie where `path` would, and with `everywhere` all of that name."""
        for directory in self.directories:
            yield from self._there(directory.by_path(path))
        if everywhere:
            for directory in self.directories:
                yield from self._there(directory.by_name(base_name(path)))

    def _there(self, paths: Iterable[str]) -> Iterator[Found]:
        for path in paths:
            found = self.look(path)
            if found is not None:
                yield found
