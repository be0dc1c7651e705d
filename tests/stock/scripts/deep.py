"""Runs inside the stock interpreter: Python and C frames by turns, then a read that never returns.

Since 3.11 a Python function calling another one takes no C frame. Only callbacks out of C code
(sorted's key, re.sub's function, functools.reduce, qsort through ctypes) make the native stack
deep, so every level goes through one of them.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import sys

COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
LIBC = ctypes.CDLL(None)


def through_sorted(depth: int) -> None:
    sorted([depth, depth], key=lambda value: descend(value - 1))


def through_regex(depth: int) -> None:
    re.sub("a", lambda match: str(descend(depth - 1)), "banana")


def through_reduce(depth: int) -> None:
    functools.reduce(lambda left, right: descend(right - 1), [depth, depth])


def through_qsort(depth: int) -> None:
    def compare(left: object, right: object) -> int:
        return descend(depth - 1)

    numbers = (ctypes.c_int * 4)(4, 3, 2, 1)
    LIBC.qsort(numbers, ctypes.c_size_t(4), ctypes.c_size_t(4), COMPARE(compare))


class Ordered:
    """A comparison operator in Python, called from C."""

    def __init__(self, depth: int) -> None:
        self.depth = depth

    def __lt__(self, other: Ordered) -> bool:
        return bool(descend(self.depth - 1))


def through_operator(depth: int) -> None:
    max(Ordered(depth), Ordered(depth))


WAYS = (through_sorted, through_regex, through_reduce, through_qsort, through_operator)


def descend(depth: int) -> int:
    if depth:
        WAYS[depth % len(WAYS)](depth)
    else:
        os.write(int(os.environ["STOCK_READY_FD"]), b"%d\n" % os.getpid())
        os.read(0, 1)
    return 0


descend(int(sys.argv[1]))
