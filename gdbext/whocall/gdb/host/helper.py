"""The helper of this gdb: started by the first question, started again after it has ended."""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whocall.base import limits
from whocall.base.errors import Error
from whocall.gdb.host import settings
from whocall.gdb_helper.helper import Helper, Taker
from whocall.gdb_helper.worker import Terms
from whocall.shared_front_end.caches import cache_folders

if TYPE_CHECKING:
    from whocall.report.form.jsonform import Json

_helper: Helper | None = None
_terms: tuple[Terms, str] | None = None


def _wanted(descriptors: Sequence[int], folders: Sequence[str] = ()) -> tuple[Terms, str]:
    """What it has to keep, by the settings. Whom debuginfod asks stands in the environment."""
    network = settings.asks_debuginfod()
    terms = Terms(
        writable=(*cache_folders(["facts", *["debuginfod"] * network]), *folders),
        network=network,
        descriptors=tuple(descriptors),
        memory=limits.memory_for(2),
        seconds=limits.PROCESSOR_TIME,
    )
    return terms, settings.debuginfod_servers()


def ask(question: Json, take: Taker, descriptors: Sequence[int]) -> Any:
    """What it answers: see Helper.ask. It has our `descriptors`, of files that have no name."""
    global _helper, _terms
    wanted = _wanted(descriptors)
    if _helper is not None and (not _helper.process or _terms != wanted):
        end()
    if _helper is None:
        _helper, _terms = _started(wanted[0]), wanted
    return _helper.ask({**question, "folder": _folder()}, take)


def ask_once(
    question: Json, take: Taker, descriptors: Sequence[int], folders: Sequence[str]
) -> Any:
    """The same of a helper for this question alone, which may write in `folders`."""
    started = _started(_wanted(descriptors, folders)[0])
    try:
        return started.ask({**question, "folder": _folder()}, take)
    finally:
        started.end()


def _started(terms: Terms) -> Helper:
    try:
        return Helper(terms)
    except OSError as error:
        raise Error(
            f"no process can be started that reads files for whocall: {error.strerror};"
            ' "set whocall helper off" does without'
        ) from error


def end() -> None:
    """Of the helper that there is."""
    global _helper
    if _helper is not None:
        _helper.end()
        _helper = None


def _end_with_gdb() -> None:
    """At the end of gdb, where nobody is left to be told of anything."""
    with suppress(KeyboardInterrupt):  # of a SIGTERM at the pager's prompt
        end()


def _folder() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # gone
        return "/"


atexit.register(_end_with_gdb)  # in order: at the end of gdb the kernel would only kill it
