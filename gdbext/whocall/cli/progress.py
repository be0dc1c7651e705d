"""A bar on standard error for what takes longer than a second, where somebody watches it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 1.0  # seconds before the bar appears

Tell = Callable[[str, float], None]
"""What is done now, and what share of the whole was done before it, 0 to 1."""


def _quiet(what: str, share: float) -> None:
    """Where nobody watches."""


@contextmanager
def progress_bar(wanted: bool = True) -> Iterator[Tell]:
    """Gives what hears of the progress. Without a terminal, or without the library that draws, it
    says nothing.
    """
    if not wanted or not sys.stderr.isatty():
        yield _quiet
        return
    try:
        from rich.console import Console
        from rich.progress import Progress, TimeElapsedColumn
    except ImportError:
        yield _quiet
        return
    bar = Progress(
        *Progress.get_default_columns()[:2],
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("", total=1.0)
    begun, shown = time.monotonic(), False

    def tell(what: str, share: float) -> None:
        nonlocal shown
        if not shown and time.monotonic() - begun >= PATIENCE:
            bar.start()
            shown = True
        bar.update(task, description=what.replace("[", "\\["), completed=share)

    try:
        yield tell
    finally:
        if shown:
            bar.stop()
