"""Finds files of programs in directories: by build id, by Breakpad id, or by name."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from whocall.base.elf_head import ElfHead, read_elf_head
from whocall.base.records import dataclass
from whocall.base.regular_file import open_regular

MOST_PROGRAMS = 200  # of which it is asked whether they had a stack
MOST_FILES = 200_000  # that are looked at in a directory: a home directory must not cost hours
_MOST_KNOWN = 1 << 16  # paths of which it is remembered what is there
_GUID = 32  # hex digits
_ORDER = (3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15)


def breakpad_id(build_id: str) -> str:
    """How Breakpad writes a build id (hex): a GUID in upper case, and the age 0."""
    digits = build_id[:_GUID].ljust(_GUID, "0").upper()
    return "".join(digits[2 * at : 2 * at + 2] for at in _ORDER) + "0"


def same_build(wanted: str, found: str) -> bool:
    """Whether two ids are of one build; either may be a build id or Breakpad's form of one."""
    if wanted == found:
        return wanted != ""
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
        with open_regular(path, buffer=512) as file:
            words = file.readline(512).split()
    except OSError:
        return None
    if len(words) < 5 or words[0] != b"MODULE":
        return None
    return Found(path, words[3].decode("ascii", "replace").upper(), None)


def base_name(path: str) -> str:
    """The last part of a path; "" where that would lead to another directory."""
    name = path.rsplit("/", 1)[-1]
    return "" if name in (".", "..") else name


class Directory:
    """One directory that the user named, with all that lies below it."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.is_too_large = False  # to look at all its files

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
            inside = posixpath.normpath("/" + path.lstrip("/"))[1:]  # `..` ends at the root
            if inside:
                yield os.path.join(self.root, inside)
                yield os.path.join(self.root, "usr/lib/debug", inside + ".debug")
        name = base_name(path)
        if name:
            yield os.path.join(self.root, name)
            yield os.path.join(self.root, name + ".debug")

    def by_build_id(self, build_id: str) -> list[Found]:
        """All files of this build, whatever their names and wherever they are."""
        form = build_id[:_GUID] if build_id != build_id.lower() else breakpad_id(build_id)[:_GUID]
        return self._of_form.get(form, [])

    def by_name(self, name: str) -> list[Found]:
        """All files that are called so."""
        return [*self._called.get(name, ()), *self._called.get(name + ".debug", ())]

    @cached_property
    def _of_form(self) -> dict[str, list[Found]]:
        return _grouped(self.files, _form)

    @cached_property
    def _called(self) -> dict[str, list[Found]]:
        return _grouped(self.files, lambda found: base_name(found.path))

    @cached_property
    def files(self) -> list[Found]:
        """All that lend names."""
        files: list[Found] = []
        count = 0
        for folder, folders, names in os.walk(self.root):
            folders.sort()
            for name in sorted(names):
                count += 1
                if count > MOST_FILES:
                    self.is_too_large = True
                    return files
                found = look_at(os.path.join(folder, name))
                if found is not None:
                    files.append(found)
        return files


def _grouped(files: Iterable[Found], key: Callable[[Found], str]) -> dict[str, list[Found]]:
    groups: dict[str, list[Found]] = {}
    for found in files:
        groups.setdefault(key(found), []).append(found)
    return groups


def _form(found: Found) -> str:
    """The id by which builds are compared; "" without one."""
    if found.head is None or not found.build_id:
        return found.build_id[:_GUID]
    return breakpad_id(found.build_id)[:_GUID]


class Stores:
    """All directories, and each file looked at once."""

    def __init__(self, directories: Iterable[str]) -> None:
        self.directories = [Directory(each) for each in directories]
        self._known: dict[str, Found | None] = {}

    def look(self, path: str) -> Found | None:
        """What the file at `path` is."""
        if path not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[path] = look_at(path)
        return self._known[path]

    def there(self, paths: Iterable[str]) -> Iterator[Found]:
        """What there is at the paths."""
        for path in paths:
            found = self.look(path)
            if found is not None:
                yield found

    def of_build(self, build_id: str, name: str, everywhere: bool = True) -> Iterator[Found]:
        """The files of a build, those first that cost least to find; the same twice at times.

        Without `everywhere` only where stores would have them.
        """
        if len(build_id) < 3 or "/" in build_id or "\0" in build_id:
            return
        for directory in self.directories:
            for found in self.there(directory.in_stores(build_id, name)):
                if same_build(build_id, found.build_id):
                    yield found
        if everywhere:
            for directory in self.directories:
                yield from directory.by_build_id(build_id)

    def at(self, path: str) -> Iterator[Found]:
        """The files that lie where one with this path would."""
        for directory in self.directories:
            yield from self.there(directory.by_path(path))

    def called(self, path: str) -> list[Found]:
        """All files that are called like this one."""
        name = base_name(path)
        return [found for each in self.directories for found in each.by_name(name) if name]

    def remarks(self) -> Iterator[str]:
        """Sentences on directories of which not all was looked at."""
        for each in self.directories:
            if each.is_too_large:
                yield (
                    f"{each.root} has more than {MOST_FILES:,} files, and the rest was not looked"
                    " at: name directories further down by --symbols"
                )

    def programs(self) -> list[ElfHead]:
        """Those with code, as far as anybody would look at each."""
        found = [each.head for directory in self.directories for each in directory.files]
        return [head for head in found if head is not None and head.has_code][:MOST_PROGRAMS]
