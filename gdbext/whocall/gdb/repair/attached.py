"""The symbol files that are attached to gdb's object files."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import gdb

from whocall.base.gdb_lines import named
from whocall.gdb.host import console, frame_cache
from whocall.gdb.target.connections import connection_of
from whocall.repair import symbol_cache
from whocall.repair.plan import ModuleState


def process_now() -> tuple[int, int | None]:
    """Tells a process from an earlier one of the same inferior: each core is a connection."""
    inferior = gdb.selected_inferior()
    connection = connection_of(inferior)
    return inferior.pid, connection.number if connection is not None else None


@dataclass
class Attached:
    """What gdb was told about one module."""

    progspace: gdb.Progspace
    objfile: gdb.Objfile | None  # None: gdb has none for the module, and the files stand alone
    bias: int
    path: str
    state: ModuleState = field(default_factory=ModuleState)
    files: list[Path] = field(default_factory=list)
    loaded: str = ""  # the module's own file, where gdb was given that too
    moved: bool = False  # gdb had the program elsewhere, and was told where it lies
    process: tuple[int, int | None] = field(default_factory=process_now)  # of which it was told
    kept: bool = False  # gdb has it whatever becomes of its list of shared libraries

    def load(self, file: str) -> None:
        """Gives gdb the file of a module that it knows nothing of, such as a library where the
        program is missing. Raises Error for one that gdb cannot be given.
        """
        self.loaded = self._add(file)
        # gdb may have the same file as the debug file of a library, to which none can be added:
        # its own assertion would end it.
        self.objfile = next(
            (
                each
                for each in self.progspace.objfiles()
                if each.filename == self.loaded and each.owner is None
            ),
            None,
        )

    def attach(self, files: Iterable[Path]) -> None:
        """Gives gdb the files as debug info of the module."""
        for path in files:
            if self.objfile is not None:
                self.objfile.add_separate_debug_file(str(path))
            else:
                self._add(str(path))
            self.files.append(path)
            frame_cache.invalidate()

    def _add(self, file: str) -> str:
        """Returns the path that gdb was given."""
        path = named(file)
        console.said("add-symbol-file -o", self.bias, path)
        return path

    @property
    def is_valid(self) -> bool:
        """Whether gdb still has what it was told."""
        if not self.progspace.is_valid():
            return False
        if self.objfile is not None:
            return self.objfile.is_valid()
        if not self.files:
            return True
        ours = {str(path) for path in self.files}
        return any(objfile.filename in ours for objfile in self.progspace.objfiles())


_known: list[Attached] = []
_folder: Path | None = None


def session_folder() -> Path:
    """Where files lie that only this gdb needs; gdb reads them when it likes, until it ends."""
    global _folder
    if _folder is None:
        base = symbol_cache.directory()
        _sweep(base)
        _folder = Path(tempfile.mkdtemp(prefix=f"session-{os.getpid()}-", dir=base))
        atexit.register(shutil.rmtree, _folder, ignore_errors=True)
    return _folder


def _sweep(base: Path) -> None:
    """Removes what gdbs left behind that were killed."""
    for left in base.glob("session-*"):
        match = re.match(r"session-(\d+)-", left.name)
        if match and not Path(f"/proc/{match.group(1)}").exists():
            shutil.rmtree(left, ignore_errors=True)


def session_file(contents: bytes | memoryview) -> Path:
    """A file of its own for `contents`, kept until gdb ends."""
    return symbol_cache.write_new(session_folder(), contents)


def records() -> list[Attached]:
    """What gdb was told in the current program space; also that there was nothing to tell."""
    _known[:] = [known for known in _known if known.is_valid]
    space = gdb.current_progspace()
    return [known for known in _known if known.progspace == space]


def here() -> list[Attached]:
    """The modules of the current program space that gdb was given files for."""
    return [known for known in records() if known.files or known.loaded]


def remark() -> list[str]:
    """A line where gdb's frames are not its own."""
    return ['gdb is repaired; "whocall revert" brings its own frames back.'] * bool(here())


def record(objfile: gdb.Objfile | None, path: str, bias: int) -> Attached:
    """The record of a module, made when there is none."""
    for known in records():
        if known.objfile is not None and known.objfile.is_valid() and known.objfile == objfile:
            return known
        if objfile is None and (known.path, known.bias) == (path, bias):
            return known
    known = Attached(gdb.current_progspace(), objfile, bias, path)
    _known.append(known)
    return known


def was_moved(objfile: gdb.Objfile) -> bool:
    """Whether gdb was told where the program lies."""
    return any(known.moved and known.objfile == objfile for known in records())


def forget_here() -> None:
    """After gdb has dropped all files of the current program space."""
    space = gdb.current_progspace()
    _known[:] = [known for known in _known if known.progspace != space]


def is_ours(path: Path) -> bool:
    """Whether it is one of the symbol files that we write."""
    return symbol_cache.directory() in path.parents


def with_debug_files() -> list[gdb.Objfile]:
    """The object files for which gdb found a separate debug file by itself."""
    return [
        other.owner
        for other in gdb.current_progspace().objfiles()
        if other.owner is not None and not is_ours(Path(other.filename or ""))
    ]
