"""The values that completion offers.

It must never fail: without a native module or a program there is nothing to offer.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Mapping
from functools import lru_cache
from itertools import takewhile
from pathlib import Path, PurePath

import gdb

from whocall.core.errors import Error
from whocall.frontend.options import Completer

MOST_NAMES = 10_000  # where `max-completions` is unlimited


def strategies() -> list[str]:
    """What may be switched off."""
    try:
        from whocall.core.engine import native
    except Error:
        return []
    return list(native.strategies())


def modules() -> list[str]:
    """File names of the loaded modules; before a program runs, and where the native module is
    missing, of the files that gdb has loaded.
    """
    try:
        from whocall.gdb.target.inferior import current

        paths = [module.path for module in current().image.modules]
    except (Error, gdb.error):
        loaded = [each for each in gdb.objfiles() if each.owner is None and each.filename]
        paths = [str(each.filename) for each in loaded if Path(str(each.filename)).is_file()]
    return sorted({PurePath(path).name for path in paths if path})


def files(start: str) -> list[str]:
    """Paths that begin with `start`; directories end in a slash."""
    folder, slash, name = start.rpartition("/")
    try:
        with os.scandir(Path(folder + slash or ".").expanduser()) as entries:
            found = [(entry.name, entry.is_dir()) for entry in entries]
    except (OSError, RuntimeError):  # RuntimeError: ~ of a user that there is not
        return []
    return sorted(
        folder + slash + entry + "/" * is_folder
        for entry, is_folder in found
        if entry.startswith(name) and (name or not entry.startswith("."))
    )


def functions(text: str) -> list[str]:
    """Names of the process's functions that begin with the last word of `text`, what follows
    "whocall functions"; of the one module that -module names there.
    """
    from whocall.gdb.target.inferior import current
    from whocall.report.tables.functions import path_fits

    words = text.split()
    at = next((at for at, word in enumerate(words[:-2]) if "-module".startswith(word)), None)
    wanted = "" if at is None else words[at + 1]
    most = gdb.parameter("max-completions")
    most = MOST_NAMES if most is None or most < 0 else min(most + 1, MOST_NAMES)
    found: set[str] = set()
    for module in current().image.modules:
        if len(found) < most and module.state == "found" and path_fits(module, wanted):
            names = _names(module.file_path, Path(module.file_path).stat().st_mtime_ns)
            begin = bisect_left(names, words[-1])
            found.update(takewhile(lambda name: name.startswith(words[-1]), names[begin:][:most]))
    return sorted(found)[:most]


@lru_cache(maxsize=64)
def _names(path: str, written: int) -> list[str]:
    """Names in a file as regular expressions: as far as no character means anything else there.

    `written` is the file's time. Names that whocall would have to infer are left out: TAB is not to
    take seconds.
    """
    from whocall.core.engine import native
    from whocall.core.image import open_symbols
    from whocall.gdb.host.settings import search
    from whocall.gdb.target.walks import demangle

    table = open_symbols(path, search=search())
    shown = native.demangle if demangle() else str
    named = (table[at] for at in range(len(table)))
    heads = (
        re.split(r"[^\w:.<>,~@-]", shown(each.name), maxsplit=1)[0] for each in named if each.named
    )
    return sorted({head for head in heads if head})


COMPLETERS: Mapping[str, Completer] = {"without": strategies, "module": modules}
