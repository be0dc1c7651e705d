"""What only some commands need, and how it is had where it is missing."""

from __future__ import annotations

from whocall.core.errors import Error
from whocall.core.loader import python_here


def lacking(what: str, library: str) -> Error:
    """`what` cannot be done without `library`, which pip and, with `python3-` before it, Debian
    call so.
    """
    remedy = f"{python_here()} -m pip install {library}"
    return Error(
        f"{what} needs {library}, which this Python lacks; install it with `{remedy}`, or as"
        f" Debian's python3-{library}",
        reason=f"{library} is missing",
        remedy=remedy,
    )
