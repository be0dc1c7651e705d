"""`whocall doctor` in gdb; works without the native module."""

from __future__ import annotations

import gdb

from whocall.frontend.doctor import examine, finding_lines
from whocall.frontend.options import syntax
from whocall.gdb.host import settings
from whocall.gdb.host.output import write


def run(line: str) -> None:
    """Prints the findings; what is missing is no error of this command."""
    syntax("doctor").parse(line)
    write(finding_lines(examine(gdb.VERSION, settings.has_helper())))
