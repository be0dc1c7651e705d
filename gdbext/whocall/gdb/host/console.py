"""The one place that gives gdb commands and expressions.

What a command works on may be named by a stranger: see `base/gdb_lines.py` for how a name becomes
part of a line, or is refused.
"""

from __future__ import annotations

import re
from functools import lru_cache

import gdb

from whocall.base.gdb_lines import Argument, line


@lru_cache(maxsize=1)
def version() -> int:
    """gdb's major version; 0 where it has none."""
    found = re.search(r"(\d+)\.", gdb.VERSION)
    return int(found.group(1)) if found else 0


def run(command: str, *arguments: Argument) -> None:
    """Runs a command, whose output the user sees. Raises gdb.error, and Error for a refused path.

    The command stands in the source; what it works on are its arguments.
    """
    gdb.execute(line(command, *arguments, version=version()))


def said(command: str, *arguments: Argument) -> str:
    """The same, and returns the output."""
    return str(gdb.execute(line(command, *arguments, version=version()), False, True))


def users_value(expression: str) -> gdb.Value:
    """The value of an expression that the user has typed. Raises gdb.error."""
    return gdb.parse_and_eval(expression)
