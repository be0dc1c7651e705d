"""Files that become shorter while they are read, such as a core that somebody writes anew: what was
made of them means nothing, and who asked is told so.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager

from whocall.base.errors import Error

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

_NATIVE = "whocall._native"

_told = 0  # of so many cut files somebody has been told


def _cut() -> tuple[int, str]:
    native = sys.modules.get(_NATIVE)
    return native.cut_files() if native is not None else (0, "")


def told() -> int:
    """Of how many cut files somebody was told: what was made before is not to be used again."""
    return _told


@contextmanager
def whole_files(*, afresh: bool = False) -> Iterator[None]:
    """What is done within was done with whole files, or raises Error in the end; so it does where a
    file was cut before that it may have used, unless it opens all that it uses `afresh`. That comes
    before any other error, which may be due to it.
    """
    global _told
    if afresh:
        _told = _cut()[0]
    try:
        yield
    except Exception as error:
        _raise_if_cut(error)
        raise
    _raise_if_cut(None)


def _raise_if_cut(other: Exception | None) -> None:
    global _told
    count, path = _cut()
    if count > _told:
        _told = count
        reason = "became shorter while it was read"
        remedy = "repeat that when nobody writes to the file any more"
        raise Error(
            f"{path} {reason}, so that what was read of it cannot be relied on; {remedy}",
            path=path,
            reason=reason,
            remedy=remedy,
        ) from other
