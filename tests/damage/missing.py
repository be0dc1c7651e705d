"""Crashes whose executable is not to be had any more: only the core and the libraries are there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from corpus import BuiltCase

DUMP_FILES = 0x7F
"""A coredump_filter with which private mappings of files are in the core, whole, with their code.

Without, as by default, the core has the first page of each file only.
"""


@contextmanager
def executable_missing(built: BuiltCase) -> Iterator[None]:
    """Within the block the stripped executable is nowhere; afterwards it is back."""
    aside = built.exe.parent.parent / "aside"
    built.exe.rename(aside)
    try:
        yield
    finally:
        aside.rename(built.exe)
