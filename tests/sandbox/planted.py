"""The command line with parsers that somebody has taken over.

    python3 planted.py FOLDER ARGUMENTS...

Whatever native code a command calls first tries what a hostile file would have it do, in FOLDER,
and says on standard error what succeeded.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

KEPT = {
    "restrict_self", "sandbox_support", "tell_of_long_work", "cut_files", "Error", "checksum",
    "architectures", "strategies",
}  # fmt: skip


def attempts(folder: Path) -> dict[str, Callable[[], Any]]:
    """What succeeds by returning."""
    there = folder / "there"
    return {
        "write": lambda: there.open("r+"),
        "append": lambda: there.open("a"),
        "cut": lambda: os.truncate(there, 0),
        "make": lambda: (folder / "made").open("x"),
        "folder": lambda: (folder / "made-too").mkdir(),
        "link": lambda: (folder / "a-link").symlink_to("/etc"),
        "rename": lambda: there.rename(folder / "elsewhere"),
        "remove": there.unlink,
        "inet": lambda: socket.create_connection(("127.0.0.1", int((folder / "port").read_text()))),
        "unix": lambda: socket.socket(socket.AF_UNIX).connect(str(folder / "socket")),
        "own memory": lambda: Path("/proc/self/mem").open("r+b"),
    }


def planted(folder: Path) -> None:
    """Tries all; to run a program comes last, as nothing comes after that."""
    for name, attempt in attempts(folder).items():
        try:
            attempt()
        except OSError:
            continue
        os.write(2, f"SUCCEEDED {name}\n".encode())
    os.write(2, b"TRIED\n")
    os.execv("/bin/echo", ["echo", "SUCCEEDED exec"])


def main() -> None:
    """Runs the command line."""
    folder = Path(sys.argv[1])
    sys.argv = ["whocall", *sys.argv[2:]]
    from whocall.base.native_module import native

    for name, value in vars(native).items():
        if not name.startswith("_") and callable(value) and name not in KEPT:
            if isinstance(value, type) and name != "FileNames":
                continue
            setattr(native, name, lambda *given, **named: planted(folder))
    from whocall.cli.main import main as whocall

    sys.exit(whocall())


if __name__ == "__main__":
    main()
