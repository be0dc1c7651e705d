"""A tree of the files of cores without any unwind table or symbol that can be taken away.

Copies of the executable and of every library lie there under their own paths, the C library
included, without `.eh_frame` and `.eh_frame_hdr`: what a debugger sees who is sent a program that
was built without tables. Build ids stay, so the copies still count as the files of the core.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from oracles.tools import ToolError, environment

TABLES = (".eh_frame", ".eh_frame_hdr")


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
            _strip(file, copy)
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


def _strip(file: Path, copy: Path) -> None:
    """objcopy warns that the program header of the table has no section any more; that is all."""
    sections = [f"--remove-section={name}" for name in TABLES]
    command = ["objcopy", "--strip-all", "--preserve-dates", *sections, str(file), str(copy)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode or not copy.exists():
        raise ToolError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
