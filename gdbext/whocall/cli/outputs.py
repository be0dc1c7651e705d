"""How the command line says things: results on stdout, warnings on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable


def write(lines: Iterable[str]) -> None:
    """Each of the lines, as soon as it is there."""
    for line in lines:
        sys.stdout.write(line + "\n")


def warn(sentences: Iterable[str]) -> None:
    """Each sentence as a warning."""
    for sentence in sentences:
        print(f"warning: {sentence}", file=sys.stderr)
