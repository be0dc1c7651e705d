"""The commands of the machine interface (GDB/MI), which Python can add in gdb 12 and newer."""

from __future__ import annotations

from typing import Any

import gdb

from whocall.gdb.commands.command_kinds import run


def register() -> None:
    """Adds the commands. The class is made here because older gdbs lack its base."""
    if not hasattr(gdb, "MICommand"):
        return

    class Backtrace(gdb.MICommand):
        """Answer with the true backtrace of a thread.

        Usage: -whocall-backtrace [--thread N] [--all-threads] [--past-main] [--without LIST]
               [COUNT or -COUNT]

        The result is backtrace={...}: what "whocall bt -json" prints, schema whocall.backtrace/2,
        in the values that MI has. Numbers are decimal strings, addresses hexadecimal ones, truth is
        "true" or "false", and a key that is null in JSON is left out.

        The thread is the selected one, or N of gdb's own option --thread. Every thread is
        --all-threads, since gdb keeps --all to itself.
        """

        def invoke(self, arguments: list[str]) -> dict[str, Any]:
            """gdb calls this; a gdb.GdbError becomes the error record."""
            answer: dict[str, Any] = run("whocall.gdb.commands.mi_backtrace", arguments)
            return answer

    Backtrace("-whocall-backtrace")
