"""What a process gives up for good before it reads files of strangers: the sandbox.

Who uses the package as a library keeps everything; only the command line confines itself
(`cli/sandbox.py`), and what it starts for that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

_confined = False
_postponed: Callable[[], None] | None = None
_of_children: tuple[list[str], bool] | None = None


def is_confined() -> bool:
    """Whether this process has given up anything. It cannot tell how much the kernel has taken."""
    return _confined


def confine(
    writable: Iterable[str] = (),
    *,
    network: bool = False,
    programs: bool = False,
    processes: bool = False,
    children: bool = False,
) -> None:
    """Keeps reading, and what is named: files and folders to write in, other machines, the start of
    programs, the memory of other processes, the ending of own children. What was given up before
    stays so. To be called before there are threads. Raises NativeMissingError.
    """
    global _confined
    from whocall.base.native_module import native

    native.restrict_self(
        [os.fsencode(path) for path in writable],
        network=network,
        programs=programs,
        processes=processes,
        children=children,
    )
    _confined = True


def postpone(confining: Callable[[], None]) -> None:
    """Something is done first; who does it calls confine_now()."""
    global _postponed
    _postponed = confining


def confine_now() -> None:
    """Does what was postponed, if anything was."""
    global _postponed
    confining, _postponed = _postponed, None
    if confining is not None:
        confining()


def let_children_keep(writable: Iterable[str], *, network: bool) -> None:
    """What processes that this one forks keep when they call confine_child()."""
    global _of_children
    _of_children = (list(writable), network)


def confine_child() -> None:
    """In a process that was forked by a confined one: gives up what only that one needs."""
    if _of_children is not None:
        writable, network = _of_children
        confine(writable, network=network)
