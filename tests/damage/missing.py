"""Crashes whose executable is not to be had any more: only the core and the libraries are there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from corpus import BuiltCase

DUMP_FILES = 0x7F
"""A coredump_filter with which private mappings of files are in the core, whole, with their code.

Without, as by default, the core has the first page of each file only.
"""

_hiding: defaultdict[Path, Lock] = defaultdict(Lock)


@contextmanager
def executable_missing(built: BuiltCase) -> Iterator[None]:
    """Within the block the stripped executable is nowhere; afterwards it is back.

    Several cores may share an executable: their blocks wait for each other.
    """
    aside = built.exe.parent.parent / "aside"
    with _hiding[built.exe]:
        built.exe.rename(aside)
        try:
            yield
        finally:
            aside.rename(built.exe)
