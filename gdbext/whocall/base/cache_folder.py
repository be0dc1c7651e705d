"""The user's own folder for what costs time to find out again."""

from __future__ import annotations

import os
import stat

from whocall.base.errors import Error


def cache_folder() -> str:
    """$XDG_CACHE_HOME/whocall, else ~/.cache/whocall; made when it is missing, for the user alone.

    Raises Error when it cannot be made, or others may write there. A home directory is never made:
    who has none (system users have /nonexistent) wants none.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    remedy = "set XDG_CACHE_HOME to a directory that can be written"
    if not os.path.isabs(base):
        home = os.path.expanduser("~")
        if home == "~":  # neither $HOME nor an entry of the user
            raise Error(f"there is no home directory for the cache; {remedy}")
        if not os.path.isdir(home):
            raise Error(f"there is no home directory {home} for the cache; {remedy}")
        base = os.path.join(home, ".cache")
    path = os.path.join(base, "whocall")
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        status = os.stat(path)
    except OSError as error:
        raise Error(
            f"the cache directory {path} cannot be made: {error.strerror}; {remedy}"
        ) from error
    if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Error(
            f"the cache directory {path} can be written by others; make it yours alone:"
            f" chmod go-w {path}"
        )
    return path


def is_ours(status: os.stat_result) -> bool:
    """Whether it is a regular file of this user that nobody else can write."""
    return (
        stat.S_ISREG(status.st_mode)
        and status.st_uid == os.geteuid()
        and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )
