"""Where what is known of files is kept, as folders that a process in the sandbox may write in."""

from __future__ import annotations

import os
from collections.abc import Iterable


def cache_folders(names: Iterable[str]) -> list[str]:
    """Of the caches of these names: "facts", "triage", "symbols", "debuginfod"; without those that
    are not to be.
    """
    return [folder for name in names if (folder := _CACHES[name]())]


def made_folder(folder: str, mode: int = 0o777) -> str:
    """The same folder, made where it is missing."""
    from contextlib import suppress

    with suppress(OSError):  # who writes there says so
        os.makedirs(folder, mode=mode, exist_ok=True)
    return folder


def _triage_cache() -> str:
    from whocall.base.cache_folder import cache_folder
    from whocall.base.errors import Error

    try:
        return cache_folder()
    except Error:  # facts are not kept then
        return ""


def _facts_cache() -> str:
    """A folder apart: whoever takes over a parser can do no more than spoil facts of files."""
    folder = "" if os.environ.get("WHOCALL_CACHE") == "off" else _triage_cache()
    return made_folder(os.path.join(folder, "facts"), 0o700) if folder else ""


def _symbol_cache() -> str:
    from whocall.base.errors import Error
    from whocall.repair.symbol_cache import directory

    try:
        return str(directory())
    except Error:
        return ""


def _debuginfod_cache() -> str:
    """As debuginfod_find_debuginfo(3) has it."""
    named = os.environ.get("DEBUGINFOD_CACHE_PATH", "")
    if named:
        return made_folder(named)
    home = os.environ.get("HOME", "/")
    old = os.path.join(home, ".debuginfod_client_cache")
    if os.path.isdir(old):
        return old
    caches = os.environ.get("XDG_CACHE_HOME", "") or os.path.join(home, ".cache")
    return made_folder(os.path.join(caches, "debuginfod_client"))


_CACHES = {
    "facts": _facts_cache,
    "triage": _triage_cache,
    "symbols": _symbol_cache,
    "debuginfod": _debuginfod_cache,
}
