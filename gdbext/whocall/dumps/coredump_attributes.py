"""What systemd-coredump notes on the files of its store, in their extended attributes."""

from __future__ import annotations

import os

_PREFIX = "user.coredump."
STORE = "/var/lib/systemd/coredump"


def fields_of_file(path: str) -> dict[str, str]:
    """Pid, uid, gid, signal, timestamp (microseconds), rlimit, hostname, comm, exe; or nothing."""
    try:
        names = [name for name in os.listxattr(path) if name.startswith(_PREFIX)]
        values = {name: os.getxattr(path, name) for name in names}
    except OSError:
        return {}
    return {
        name[len(_PREFIX) :]: value.decode("utf-8", "surrogateescape")
        for name, value in values.items()
    }
