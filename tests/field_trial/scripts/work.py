"""Recursion through map and reduce in two threads; json and re at the bottom. It never ends."""

from __future__ import annotations

import functools
import json
import re
import threading


def leaf(n: int) -> int:
    """Something to do."""
    text = json.dumps([{"a": x, "b": [x] * 3} for x in range(n)], indent=1)
    return len(re.sub(r"\d+", lambda m: m[0] * 2, text)) + len(json.loads(text))


def down(n: int) -> int:
    """Through C at every level."""
    if n == 0:
        return leaf(40)
    if n % 2:
        return next(map(down, [n - 1])) + 1
    return functools.reduce(lambda _, __: down(n - 1), [1, 2]) + 1


def forever() -> None:
    """Again and again."""
    while True:
        down(40)


threading.Thread(target=forever, daemon=True).start()
forever()
