"""A tree of the files of cores without their unwind tables.

Copies of the executable and of every library lie there under their own paths, the C library
included, without `.eh_frame` and `.eh_frame_hdr`: what a debugger is given whose whole system was
built without tables. Build ids stay, so the copies still count as the files of the core.
"""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

TABLES = (b".eh_frame", b".eh_frame_hdr")
SECTION = "<IIQQQQIIQQ"
"""A section header of a 64-bit ELF file."""
SHT_SYMTAB = 2


class BareRoot:
    """The tree, filled as cores are added."""

    def __init__(self, directory: Path) -> None:
        self.root = directory / "root"
        self._no_debug_files = directory / "empty"
        self._no_debug_files.mkdir(parents=True)

    def add(self, files: Iterable[Path]) -> None:
        """Copies of these files, and the links by which programs name them."""
        self._link_top("lib")
        self._link_top("lib64")
        for file in files:
            copy = self.of(file)
            if copy.exists():
                continue
            copy.parent.mkdir(parents=True, exist_ok=True)
            _blank_tables(file, copy)
            for directory in {file.parent, Path("/lib64").resolve()}:
                for link in _links(directory).get(file, ()):
                    self.of(link).parent.mkdir(parents=True, exist_ok=True)
                    self.of(link).symlink_to(os.path.relpath(copy, self.of(link).parent))

    def _link_top(self, name: str) -> None:
        """The distribution's /lib is a link to usr/lib."""
        link = self.root / name
        if Path("/", name).is_symlink() and not link.is_symlink():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(Path("/", name).readlink())

    def of(self, file: Path) -> Path:
        """The copy of `file`."""
        return self.root / file.relative_to("/")

    def gdb_settings(self) -> tuple[str, ...]:
        """What makes gdb take the files from here, and no debug files from anywhere."""
        return f"set sysroot {self.root}", f"set debug-file-directory {self._no_debug_files}"


@lru_cache
def _links(directory: Path) -> dict[Path, list[Path]]:
    """The symbolic links in a directory by the file that they lead to."""
    found: dict[Path, list[Path]] = {}
    for entry in directory.iterdir():
        if entry.is_symlink():
            found.setdefault(entry.resolve(), []).append(entry)
    return found


def _blank_tables(file: Path, copy: Path) -> None:
    """Copies a file and makes its tables zeros without a section.

    objcopy --remove-section lays out the program headers anew, and gdb, which compares them with
    those in memory, then relocates nothing: that would be a test of something else.
    """
    data = bytearray(file.read_bytes())
    (headers,) = struct.unpack_from("<Q", data, 40)
    size, count, names_index = struct.unpack_from("<3H", data, 58)
    sections = [struct.unpack_from(SECTION, data, headers + size * at) for at in range(count)]
    names = sections[names_index][4]
    for at, (name, kind, _, _, offset, length, *_) in enumerate(sections):
        assert kind != SHT_SYMTAB, f"{file} is not stripped"
        begin = names + name
        if data[begin : data.index(0, begin)] in TABLES:
            data[offset : offset + length] = bytes(length)
            data[headers + size * at : headers + size * (at + 1)] = bytes(size)
    copy.write_bytes(data)
    shutil.copystat(file, copy)  # gdb warns of a program that is newer than its core
