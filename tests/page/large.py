"""Reports of very many threads and frames, made of a small one."""

from __future__ import annotations

import copy
from typing import Any

Document = dict[str, Any]


def with_threads(report: Document, number: int) -> Document:
    """So many more threads, each with a stack of its own of 14 frames."""
    made = copy.deepcopy(report)
    crash = made["crashes"][0]
    places = len(crash["places"])
    assert places >= 2
    base = len(crash["threads"])
    for at in range(number):
        digits = [(at >> bit) & 1 for bit in range(14)]
        crash["stacks"].append(
            {
                "frames": [digit * (places - 1) for digit in digits],
                "left_out": 0,
                "gaps": [],
                "stop": {"reason": "end-of-stack", "detail": None, "text": ""},
            }
        )
        index = base + at
        crash["threads"].append(
            {
                "number": index + 1,
                "lwp": 100_000 + index,
                "name": f"worker-{at}",
                "crashed": False,
                "signal": None,
                "stack": len(crash["stacks"]) - 1,
            }
        )
        crash["groups"].append({"stack": len(crash["stacks"]) - 1, "threads": [index]})
    return made


def with_frames(report: Document, number: int) -> Document:
    """The crashed thread with so many frames, which never repeat in cycles."""
    made = copy.deepcopy(report)
    crash = made["crashes"][0]
    places = len(crash["places"])
    stack = crash["stacks"][crash["threads"][crash["main"]]["stack"]]
    seed, frames = 1, []
    for _ in range(number):
        seed = seed * 1103515245 + 12345 & 0x7FFFFFFF
        frames.append((seed >> 12) % places)
    stack["frames"], stack["gaps"] = frames, []
    return made
