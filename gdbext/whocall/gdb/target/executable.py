"""The file of the program that an inferior runs."""

from __future__ import annotations

import gdb

from whocall.base.errors import Error
from whocall.gdb.target.connections import listed


def executable(inferior: gdb.Inferior) -> str:
    """The file given to gdb as the program; "" without one.

    Not the program space's `filename`: after `symbol-file` that is a file of debug info.
    """
    space = inferior.progspace
    if hasattr(space, "executable_filename"):  # from gdb 16 on
        name = space.executable_filename or ""
    else:
        said, column = listed(inferior)
        # The rest of a name with newlines stands on the lines below.
        rest = [line for line in said[2:] if not line.startswith("\tis vfork ")]
        name = "\n".join([said[1][column:], *rest]).strip() if column >= 0 else space.filename or ""
    return str(name[len("target:") :] if name.startswith("target:") else name)


def program_file() -> str:
    """The file of the selected inferior's program. Raises Error without one."""
    exe = executable(gdb.selected_inferior())
    if not exe:
        raise Error('There is no program.  Use "file PROGRAM" or "core-file CORE" first.')
    return exe
