"""Problem directories of ABRT (`/var/spool/abrt/ccpp-*`): a file for each field."""

from __future__ import annotations

import os

from whocall.base.errors import Error
from whocall.base.regular_file import open_regular

_CORES = ("coredump", "coredump.zst", "coredump.lz4", "coredump.xz", "coredump.gz")
_MARKS = ("type", "analyzer", "executable")  # every problem has one of them
_LONGEST = 1 << 16  # bytes of a field that is kept


def is_problem(directory: str) -> bool:
    """Whether ABRT or a tool like it has made the directory."""
    there = (os.path.join(directory, name) for name in _MARKS)
    return any(os.path.isfile(path) for path in there)


def _fields(directory: str) -> dict[str, str]:
    found = {}
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        if name.startswith(_CORES[0]) or os.path.islink(path) or not os.path.isfile(path):
            continue
        try:
            with open_regular(path) as file:
                found[name] = file.read(_LONGEST).decode("utf-8", "surrogateescape").rstrip("\n")
        except OSError:
            continue  # a field that only root may read
    return found


def core_of_problem(directory: str) -> tuple[str, dict[str, str]]:
    """The path of the core, and all other fields. Raises Error when there is none."""
    for name in _CORES:
        path = os.path.join(directory, name)
        if os.path.isfile(path):
            return path, _fields(directory)
    raise Error(
        f"{directory} is a problem of ABRT without a core dump (a file `coredump`): look whether"
        " its size limit was hit (MaxCrashReportsSize in abrt.conf)",
        path=directory,
    )
