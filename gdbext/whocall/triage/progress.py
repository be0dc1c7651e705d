"""A bar on standard error while people wait, where that is a terminal."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

Json = dict[str, Any]


@contextmanager
def watched(what: str, total: int, stream: TextIO) -> Iterator[Callable[[Json | None], None]]:
    """Gives what is to be called with each result, or with None where there is none of interest.
    Without rich a count stands for the bar.
    """
    if not stream.isatty():
        yield lambda result: None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as Remaining
    except ImportError:
        with _counted(what, total, stream) as told:
            yield told
        return
    columns = (
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        Remaining(),
        TextColumn("{task.fields[failed]}"),
    )
    with Progress(*columns, console=Console(file=stream), transient=True) as progress:
        task = progress.add_task("", total=total, failed="")
        failed = 0

        def told(result: Json | None) -> None:
            nonlocal failed
            failed += result is not None and result["reason"] is not None
            words = f"{failed} unreadable" if failed else ""
            progress.update(task, advance=1, failed=words)

        yield told


@contextmanager
def _counted(what: str, total: int, stream: TextIO) -> Iterator[Callable[[Json | None], None]]:
    done = 0

    def told(result: Json | None) -> None:
        nonlocal done
        done += 1
        stream.write(f"\r{what}: {done} of {total}")
        stream.flush()

    try:
        yield told
    finally:
        stream.write("\r\x1b[K")
        stream.flush()
