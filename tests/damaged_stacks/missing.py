"""Crashes whose executable is not to be had any more: only the core and the libraries are there."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from corpus import BuiltCase, Case

DUMP_FILES = 0x7F
"""A coredump_filter with which private mappings of files are in the core, whole, with their code.

Without, as by default, the core has the first page of each file only.
"""


def without_executable(case: Case, dumped: int | None = None) -> BuiltCase:
    """The case crashed in a copy of its executable, which is gone when the truth is known.

    `dumped` is a coredump_filter other than the kernel's default.
    """

    def build(place: Path) -> BuiltCase:
        whole = case.kept().binaries
        folder = place / "bin"
        folder.mkdir()
        exe, *libs = (Path(shutil.copy2(path, folder)) for path in (whole.exe, *whole.libs))
        built = case.crashed(replace(whole, exe=exe, libs=tuple(libs)), place, dumped)
        built = replace(built, known=built.truth())
        exe.unlink()
        return built

    return case.kept_as(("without executable", dumped, Path(__file__)), build)
