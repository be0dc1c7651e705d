"""How many cores are done, for people who wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whocall.base.long_work import stage

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]


def counted(what: str, total: int) -> Callable[[Json | None], None]:
    """Gives what is to be called with each result, or with None where there is none of interest."""
    done = failed = 0

    def told(result: Json | None) -> None:
        nonlocal done, failed
        done += 1
        failed += result is not None and result["reason"] is not None
        unreadable = f", {failed} unreadable" if failed else ""
        stage(f"{what}: {done:,} of {total:,}{unreadable}", done / total)

    stage(f"{what}: 0 of {total:,}", 0.0)
    return told
