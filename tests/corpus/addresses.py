"""Programs that stand where they stood before, run after run."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def same_addresses() -> Iterator[None]:
    """What is started meanwhile has no address space randomization; nothing changes where that is
    refused (places.needs.FIXED_ADDRESSES).
    """
    no_randomization = 0x0040000
    personality = ctypes.CDLL(None).personality
    before = personality(0xFFFFFFFF)
    personality(before | no_randomization)
    try:
        yield
    finally:
        personality(before)
