"""Where a program was loaded, by the addresses on its stack: asked of the native module."""

from __future__ import annotations

import os
from collections.abc import Iterable

from whocall.base.elf_head import ElfHead
from whocall.base.errors import Error
from whocall.base.native_errors import native_errors
from whocall.base.native_module import native

_ADDRESSES = 1 << 64


def load_bias(head: ElfHead, return_addresses: Iterable[int]) -> int | None:
    """Runtime address minus link address of a program on whose stack these addresses were; None
    where they do not tell.
    """
    addresses = [each for each in return_addresses if 0 <= each < _ADDRESSES]
    try:
        with native_errors():
            return native.load_bias(os.fsencode(head.path), addresses)
    except Error:
        return None
