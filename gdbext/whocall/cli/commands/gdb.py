"""`whocall gdb`: starts gdb with the extension loaded. Whatever follows is gdb's, options too."""

from __future__ import annotations

import os
from collections.abc import Sequence

from whocall.base import loader
from whocall.base.errors import Error
from whocall.base.gdb_lines import line
from whocall.base.optional_packages import GDB
from whocall.base.programs import become, gdb_option, users_own
from whocall.base.safe_paths import accepted


def run(words: Sequence[str]) -> int:
    """Becomes gdb, with the extension loaded before anything that `words` ask for."""
    gdb = os.environ.get("GDB", "gdb")
    script = line("source", accepted(loader.script_path()))
    try:
        become(gdb, [*gdb_option("-ex", script), *users_own(words)])
    except OSError as error:
        raise Error(f"cannot start {gdb}: {error.strerror}; install {GDB.package}") from error
