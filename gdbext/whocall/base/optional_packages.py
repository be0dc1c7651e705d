"""What only some commands need, for their error sentences and the doctor."""

from __future__ import annotations

from collections.abc import Iterator

import whocall.commands as table
from whocall.base.errors import Error
from whocall.base.loader import of_distribution, python_here
from whocall.base.records import dataclass


@dataclass(frozen=True)
class Need:
    """`what` of a command cannot be done without `library`, a module of Python, which pip and, with
    `python3-` before it, Debian call so.
    """

    command: str
    what: str
    library: str


def _needs() -> Iterator[tuple[str, Need]]:
    """By the names of their commands."""
    for name in table.shell_names():
        for library, what in table.shell_command(name).libraries:
            yield name, Need(f"whocall {name}", what, library)


NEEDS = tuple(need for _, need in _needs())


def need_of(name: str, library: str) -> Need:
    """The need of one command."""
    return next(need for other, need in _needs() if (other, need.library) == (name, library))


@dataclass(frozen=True)
class Tool:
    """`commands` start `program`, which is in Debian's `package`, for `use`."""

    program: str
    package: str
    commands: tuple[str, ...]
    use: str


GDB = Tool("gdb", "gdb", ("whocall compare", "whocall gdb"), "whocall compare, whocall gdb")
JOURNAL = Tool(
    "journalctl", "systemd", ("whocall bt --last",), "what systemd-coredump noted of crashes"
)
TOOLS = (GDB, JOURNAL)


def install_module(library: str) -> str:
    """The command that installs a module for this Python."""
    if of_distribution():
        return f"apt-get install python3-{library}"
    return f"{python_here()} -m pip install {library}"


def lacking(need: Need) -> Error:
    """The error of a command whose need is not met."""
    library = need.library
    remedy = install_module(library)
    otherwise = "" if of_distribution() else f", or as Debian's python3-{library}"
    return Error(
        f"{need.what} needs {library}, which this Python lacks; install it with"
        f" `{remedy}`{otherwise}",
        reason=f"{library} is missing",
        remedy=remedy,
    )
