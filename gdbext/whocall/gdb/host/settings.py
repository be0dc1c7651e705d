"""What the settings say, ours and gdb's own."""

from __future__ import annotations

import os

import gdb

from whocall.base.file_search import Search
from whocall.gdb.host import downloads
from whocall.shared_front_end.options import split_list

DEFAULT_MAX_FRAMES = 1 << 20


def search() -> Search:
    """Where to look for files and names, by our settings and by gdb's own.

    gdb's are `solib-search-path`, `debug-file-directory`, and `sysroot` without its prefix for
    files that live on the target.
    """
    return Search(
        sysroot=str(gdb.parameter("sysroot") or "").removeprefix("target:"),
        directories=_paths("whocall search-path") + _paths("solib-search-path"),
        debug_directories=_paths("debug-file-directory"),
        symbol_files=_paths("whocall symbol-files"),
        signature_files=_paths("whocall signature-files"),
        debuginfod=asks_debuginfod(),
        progress=downloads.show,
    )


def _of_gdb(name: str) -> str:
    """A setting of gdb's; "" where this gdb does not have it."""
    try:
        return str(gdb.parameter(name) or "")
    except RuntimeError:
        return ""


def asks_debuginfod() -> bool:
    """Our setting, or gdb's own when ours is auto."""
    ours = gdb.parameter("whocall debuginfod")
    return bool(ours == "on" or (ours == "auto" and _of_gdb("debuginfod enabled") == "on"))


def debuginfod_servers() -> str:
    """Whom libdebuginfod asks: gdb writes its setting into the environment of its process."""
    return _of_gdb("debuginfod urls") if asks_debuginfod() else ""


def _paths(setting: str) -> tuple[str, ...]:
    return paths_in(gdb.parameter(setting) or "")


def paths_in(value: str) -> tuple[str, ...]:
    """The parts of a list of paths; empty ones do not count."""
    return tuple(part for part in value.split(os.pathsep) if part)


def has_helper() -> bool:
    """Whether another process reads what strangers made."""
    return bool(gdb.parameter("whocall helper"))


def max_frames() -> int:
    """A limit that is always there."""
    value = gdb.parameter("whocall max-frames")
    return value if value is not None and value > 0 else DEFAULT_MAX_FRAMES


def backtrace_limit() -> int:
    """How many frames gdb's own backtraces have at most."""
    value = gdb.parameter("backtrace limit")
    return value if value is not None and value > 0 else max_frames()


def prints_addresses() -> bool:
    """gdb's `set print address`."""
    return bool(gdb.parameter("print address"))


def prints_places() -> bool:
    """Whether gdb's `set print frame-info` has files in the lines of frames. Source lines, which it
    may have beside them, stand in no backtrace of ours.
    """
    return _of_gdb("print frame-info") != "short-location"


def folds() -> bool:
    """Whether frames that repeat are told in a line."""
    return bool(gdb.parameter("whocall fold"))


def filename_display() -> str:
    """gdb's own setting: one of core.model.FILE_DISPLAYS."""
    return str(gdb.parameter("filename-display"))


def frame_arguments() -> str:
    """gdb's own setting, as core.model.TextForm has it."""
    word = str(gdb.parameter("print frame-arguments"))
    return word if word in ("presence", "none") else "values"


def print_elements() -> int:
    """gdb's own setting: characters of a text, at most; a very large number for no limit."""
    most = gdb.parameter("print elements")
    return most if isinstance(most, int) and most > 0 else 1 << 16


def without() -> list[str]:
    """Strategies switched off for every command."""
    return split_list(gdb.parameter("whocall without") or "")
