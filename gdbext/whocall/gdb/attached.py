"""Symbol files that gdb was given, and for which of its object files."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import gdb

from whocall import symbol_cache
from whocall.repair import ModuleState


@dataclass
class Attached:
    """What gdb was told about one of its object files."""

    objfile: gdb.Objfile
    state: ModuleState = field(default_factory=ModuleState)
    begun: bool = False  # names and first rules were looked for
    files: int = 0


_known: list[Attached] = []
_folder: Path | None = None


def _session_folder() -> Path:
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


def session_file(contents: bytes) -> Path:
    """A file of its own for `contents`, kept until gdb ends."""
    handle, name = tempfile.mkstemp(suffix=".symbols", dir=_session_folder())
    with os.fdopen(handle, "wb") as file:
        file.write(contents)
    return Path(name)


def of(objfile: gdb.Objfile) -> Attached | None:
    """What gdb was told about `objfile`; None when nothing."""
    _known[:] = [attached for attached in _known if attached.objfile.is_valid()]
    return next((attached for attached in _known if attached.objfile == objfile), None)


def begin(objfile: gdb.Objfile) -> Attached:
    """The record of `objfile`, made when there is none."""
    attached = of(objfile)
    if attached is None:
        attached = Attached(objfile)
        _known.append(attached)
    return attached


def attach(attached: Attached, path: Path) -> None:
    """Gives gdb the file as debug info of the object file."""
    attached.objfile.add_separate_debug_file(str(path))
    attached.files += 1
    gdb.invalidate_cached_frames()


def here() -> list[Attached]:
    """The object files of the current program space that gdb was told about."""
    objfiles = gdb.current_progspace().objfiles()
    return [found for found in map(of, objfiles) if found is not None and found.files]


def has_debug_file(objfile: gdb.Objfile) -> bool:
    """Whether gdb found a separate debug file for it by itself."""
    ours = symbol_cache.directory()
    return any(
        other.owner == objfile and ours not in Path(other.filename or "").parents
        for other in gdb.current_progspace().objfiles()
        if other.owner is not None
    )
