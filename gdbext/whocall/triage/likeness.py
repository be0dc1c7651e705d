"""How alike two crashes of builds of one program are, from 0 to 1.

Each crash is a set of weighted features: names and anchors of its frames. What stands further from
the crash, up the stack or in the code, weighs less (as in position-dependent models of stack
similarity: Dang et al., "ReBucket", ICSE 2012), and so does what many crashes of the program have.
Inlining then does no harm: the anchors of an inlined function stand in its caller's code, at the
same distance from the fault. The likeness is the cosine of the angle between the two.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from whocall.base.long_work import still_working
from whocall.triage.message import normal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Json = dict[str, Any]
Vector = dict[str, float]

STACK = 0.85  # what a frame's features weigh, of those of the frame below
CODE = 24.0  # instructions from the fault or the call where an anchor weighs half
_MEMBER = re.compile(r"\w+::\w+")
# By its kind, what an anchor says.
TELLING = {"text": 2.0, "call": 1.0, "field": 1.0, "number": 0.8}


def features(crash: Json) -> Vector:
    """What tells this crash from others."""
    found: Vector = {}

    def add(feature: str, weight: float) -> None:
        found[feature] = max(found.get(feature, 0.0), weight)

    weight = 1.0
    for frame in crash["frames"]:
        if frame["function"] == "main":  # every crash has it
            continue
        if frame["function"] is not None:
            add(f"name:{frame['module']}!{frame['function']}", weight)
        for anchor, distance in frame["anchors"]:
            kind = anchor.partition(":")[0]
            nearby = weight * TELLING[kind] / (1 + distance / CODE)
            add(anchor, nearby)
            # Where libstdc++'s functions are inlined, the name that they throw with stays:
            # "basic_string::substr" for what another build calls as std::basic_string<...>::substr.
            if kind == "text" and _MEMBER.fullmatch(anchor, len("text:")):
                add(f"member:{anchor.rpartition('::')[2]}", nearby)
        weight *= STACK
    if crash["called"] is not None:
        add(f"called:{crash['called']}", 1.0)
    for name in crash["through"]:
        add(f"called:{name}", 1.0)
        if name.startswith("std::"):
            add(f"member:{name.rpartition('::')[2]}", 1.0)
    if crash["recursive"]:
        add("recursion", 1.0)
    if crash["near"] is not None:
        add(f"near:{crash['near']}", 1.0)
    if crash["message"] is not None:
        add(f"said:{normal(crash['message'])}", 1.0)
    return found


def vectors(crashes: Sequence[Json]) -> list[Vector]:
    """Their features, of length 1, each weighed by how rare it is among these crashes."""
    made = [features(crash) for crash in crashes]
    having = Counter(feature for each in made for feature in each)
    for each in made:
        for feature, weight in each.items():
            each[feature] = weight * math.log(1 + len(made) / having[feature])
        length = math.sqrt(sum(weight * weight for weight in each.values())) or 1.0
        for feature in each:
            each[feature] /= length
    return made


def likenesses(made: Sequence[Mapping[str, float]]) -> Iterator[tuple[int, int, float]]:
    """(index, index, cosine) of the pairs of vectors of length 1 that have something in common."""
    having: dict[str, list[tuple[int, float]]] = {}
    for at, each in enumerate(made):
        still_working()
        cosines: dict[int, float] = {}
        for feature, weight in each.items():
            for other, opposite in having.get(feature, ()):
                cosines[other] = cosines.get(other, 0.0) + weight * opposite
        for other, cosine in cosines.items():
            yield other, at, cosine
        for feature, weight in each.items():
            having.setdefault(feature, []).append((at, weight))
