"""The last guard before standard output and standard error, be they a terminal, a pipe or a file.

What whocall writes is printable already, but for its own styles (`cli/outputs.py`). What others
write here, such as argparse that repeats words of the command line, or was forgotten, is not
obeyed by a terminal either.
"""

from __future__ import annotations

from whocall.cli.wrapped_stream import Passing
from whocall.report.form.style import shown_text


class Guarded(Passing):
    """A stream of text that somebody may read at a terminal, now or later."""

    def write(self, text: str) -> int:
        """Writes what is harmless of it, and tells the rest."""
        return super().write(shown_text(text))
