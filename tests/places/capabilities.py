"""Without the privileges of root: what is to be refused is refused then, to the same user."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Collection

from places.mounts import called

PR_CAPBSET_READ, PR_CAPBSET_DROP = 23, 24

_libc = ctypes.CDLL(None, use_errno=True)


def give_up(but: Collection[int] = ()) -> None:
    """What this process starts from now on has no capabilities but these, for all its uid."""
    if os.geteuid() != 0:
        return  # there are none
    number = 0
    while (held := _libc.prctl(PR_CAPBSET_READ, number, 0, 0, 0)) >= 0:
        if held and number not in but:
            called("prctl", PR_CAPBSET_DROP, number, 0, 0, 0)
        number += 1
