"""How the command line says things: results on stdout, warnings on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from whocall.core.errors import UsageError


def write(lines: Iterable[str]) -> None:
    """Each of the lines, as soon as it is there."""
    for line in lines:
        sys.stdout.write(line + "\n")


def warn(sentences: Iterable[str]) -> None:
    """Each sentence as a warning."""
    for sentence in sentences:
        print(f"warning: {sentence}", file=sys.stderr)


def write_beside(output: str, lines: Iterable[str]) -> None:
    """What is said of an output: on stdout, and on stderr where that itself may be the output."""
    from whocall.core.output_file import is_special

    stream = sys.stderr if is_special(output) else sys.stdout
    for line in lines:
        stream.write(line + "\n")


def require_other_file(output: str | None, *inputs: str) -> None:
    """Raises UsageError where what is to be written would replace what is read. Other files are
    written over, as by any tool.
    """
    if output is None or not os.path.exists(output):
        return
    for each in inputs:
        if os.path.exists(each) and os.path.samefile(output, each):
            raise UsageError(f"{output} is what is read: write to another file")
