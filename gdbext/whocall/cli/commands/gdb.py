"""`whocall gdb`: starts gdb with the extension loaded. Whatever follows is gdb's, options too."""

from __future__ import annotations

import os
from collections.abc import Sequence

from whocall.core import loader
from whocall.core.errors import Error
from whocall.core.gdb_lines import line
from whocall.core.optional_packages import GDB
from whocall.core.programs import become, gdb_option, users_own
from whocall.core.safe_paths import accepted


def run(words: Sequence[str]) -> int:
    """Becomes gdb, with the extension loaded before anything that `words` ask for."""
    gdb = os.environ.get("GDB", "gdb")
    script = line("source", accepted(loader.script_path()))
    try:
        become(gdb, [*gdb_option("-ex", script), *users_own(words)])
    except OSError as error:
        raise Error(f"cannot start {gdb}: {error.strerror}; install {GDB.package}") from error
