"""Minidumps and microdumps: read as they lie, and made cores of, which gdb reads as any other.

The native module does both; here is what a core costs on the disk, and what people are told.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import BinaryIO

from whocall.base.file_search import Search
from whocall.base.native_errors import native_errors, native_sentences
from whocall.base.native_module import native
from whocall.base.process_image import ProcessImage
from whocall.base.signals import signal_name
from whocall.dumps import sparse


def amount(size: int) -> str:
    """`8.5 KB`."""
    return f"{size / (1 << 20):.1f} MB" if size >= 1 << 20 else f"{size / (1 << 10):.1f} KB"


class Converter:
    """A minidump, or a log with a microdump, that cores are made of."""

    def __init__(self, file: BinaryIO, name: str, sysroot: str = "") -> None:
        """Maps what is open as `file`, which may be closed then. Raises Error."""
        self._name = name
        with native_errors():
            self._crash = native.MinidumpAsCore(file.fileno(), os.fsencode(name))
        self.place(sysroot)

    @property
    def fields(self) -> dict[str, str]:
        """What the file tells of the crash, in the words that stores of crashes have for it."""
        found: dict[str, str] = {}
        for key, value in self._crash.fields.items():
            found[key] = value
            if key == "signal":
                found["signal_name"] = signal_name(self._crash.arch, int(value)) or ""
        return found

    def place(self, sysroot: str) -> None:
        """Looks for the files of libraries that are known by name alone, below `sysroot`."""
        self._crash.place_libraries(os.fsencode(sysroot))

    def take_program(self, exe: str) -> bool:
        """Takes the user's word for the program of a dump that lists no modules, where that can be.

        Returns whether it was taken.
        """
        return self._crash.take_program(os.fsencode(os.path.abspath(exe)))

    def image(self, exe: str, search: Search) -> ProcessImage:
        """The process as it is told; `exe` is the program, if it is known. Raises Error."""
        sparse.require_size(self._crash.held, self._name)
        with native_errors():
            return ProcessImage(self._crash.image(search.native(exe)))

    def write(self, out: BinaryIO, files: Mapping[int, str] | None = None) -> None:
        """Writes the core. `files`: those of modules that were found, by an address in each; the
        core says what of them was mapped. Raises Error.
        """
        if files:
            self._crash.add_files({at: os.fsencode(path) for at, path in files.items()})
        sparse.require_room(self._crash.held, self._name, out)
        with native_sentences():
            self._crash.write(out.fileno(), os.fsencode(sparse.folder()))

    def remarks(self) -> list[str]:
        """Sentences on what is missing in the core that was written."""
        kind = "microdump" if self._crash.is_microdump else "minidump"
        told = [
            f"{self._name} is a {kind} with {amount(self._crash.held)} of the process's memory:"
            " what else a walk would read is missing, so frames may be."
        ]
        if not self._crash.modules:
            told.append(
                f"{self._name} lists no modules, as Crashpad's minidumps of static programs: name"
                " the program behind it."
            )
        damaged = " is damaged" if kind == "minidump" else ""
        return told + [f"{self._name}{damaged}: {remark}." for remark in self._crash.remarks]
