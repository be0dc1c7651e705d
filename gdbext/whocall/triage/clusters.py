"""How far two stacks are from each other, and what is near each other.

The similarity is position-dependent (Dang et al., "ReBucket", ICSE 2012): equal frames count less
the further they stand from the crash, and the more the two stacks are shifted against each other
there. Two bugs in one helper function, or one bug on several ways, are near without being one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from whocall.base.long_work import still_working

if TYPE_CHECKING:
    from collections.abc import Sequence

Json = dict[str, Any]

DEEP = 0.1  # per frame from the top
SHIFT = 0.25  # per frame of shift
NEAR = 0.5  # the greatest distance within a cluster
MOST = 400  # buckets that are compared with each other

Stack = list[frozenset[str]]


def stack_of(crash: Json) -> Stack:
    """Each frame as the keys that it may be equal by: its name, or what its code says."""
    frames = []
    if crash["called"]:
        frames.append(frozenset({f"called {crash['called']}"}))
    for frame in crash["frames"]:
        if frame["function"] == "main":
            continue
        keys = {frame["key"]}
        if frame["function"] is not None:
            keys.add(f"{frame['module']}!{frame['function']}")
        keys |= {anchor for anchor, far in frame["anchors"] if anchor.startswith("text:")}
        frames.append(frozenset(keys))
    return frames


def distance(one: Stack, other: Stack) -> float:
    """0 for equal stacks, 1 for those that have nothing in common."""
    if not one or not other:
        return 0.0 if one == other else 1.0
    before = [0.0] * (len(other) + 1)
    for row, frame in enumerate(one, 1):
        line = [0.0]
        for column, opposite in enumerate(other, 1):
            equal = 0.0
            if frame & opposite:
                equal = math.exp(-DEEP * min(row, column) - SHIFT * abs(row - column))
            line.append(max(before[column], line[-1], before[column - 1] + equal))
        before = line
    most = sum(math.exp(-DEEP * at) for at in range(1, min(len(one), len(other)) + 1))
    return 1.0 - before[-1] / most


def clustered(stacks: Sequence[Stack]) -> list[int]:
    """The number of the cluster of each, from 1 on: no two of one are further than NEAR (complete
    linkage). Those behind the first MOST are clusters of their own.
    """
    clusters: list[list[int]] = []
    for at, stack in enumerate(stacks):
        still_working()
        best, found = NEAR, None
        if at < MOST:
            for cluster in clusters:
                widest = max(distance(stack, stacks[other]) for other in cluster)
                if widest <= best:
                    best, found = widest, cluster
        if found is None:
            clusters.append([at])
        else:
            found.append(at)
    numbers = [0] * len(stacks)
    for number, cluster in enumerate(clusters, 1):
        for at in cluster:
            numbers[at] = number
    return numbers
