"""The values that completion offers.

It must never fail: without a native module or a program there is nothing to offer.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path, PurePath

import gdb

from whocall.base.errors import Error
from whocall.shared_front_end.options import Completer

MOST_NAMES = 10_000  # where `max-completions` is unlimited


def strategies() -> list[str]:
    """What may be switched off."""
    try:
        from whocall.base.native_module import native
    except Error:
        return []
    return list(native.strategies())


def modules() -> list[str]:
    """File names of the loaded modules; before a program runs, and where the native module is
    missing, of the files that gdb has loaded.
    """
    try:
        from whocall.gdb.target.answering import answer

        paths = [str(path) for *_, path in answer("tables.module_ranges", {}).result]
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
    from whocall.gdb.target.answering import answer
    from whocall.gdb.target.walks import demangle

    words = text.split()
    at = next((at for at, word in enumerate(words[:-2]) if "-module".startswith(word)), None)
    most = gdb.parameter("max-completions")
    most = MOST_NAMES if most is None or most < 0 else min(most + 1, MOST_NAMES)
    wanted = {
        "start": words[-1],
        "most": most,
        "module": "" if at is None else words[at + 1],
        "demangle": demangle(),
    }
    return [str(name) for name in answer("tables.function_names", wanted).result]


COMPLETERS: Mapping[str, Completer] = {"strategies": strategies, "module": modules}
