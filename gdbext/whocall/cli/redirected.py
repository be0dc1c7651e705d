"""What commands say, kept in a file instead."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO


@contextmanager
def into(file: TextIO) -> Iterator[None]:
    """All that is said meanwhile goes there, warnings too."""
    before = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = file
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
