"""Buckets: the signatures that are one crash of a program, in whatever build.

Crashes of equal signature are one anyway. Signatures of different builds come together when they
are alike; two of the same build never do when their innermost functions are others, because in one
build addresses tell for sure. So each build is a witness of what must stay apart, and the nearest
go together first, by the mean likeness of groups, as long as no build objects.
"""

from __future__ import annotations

from collections import defaultdict
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from whocall.base.long_work import still_working
from whocall.triage.likeness import likenesses, vectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Json = dict[str, Any]

ALIKE = 0.25
"""Mean likeness from which on groups are one."""

Place = tuple[object, ...]
WHOLE = 3  # what was called, and two functions
CIRCLE = 3  # functions of a recursion that tell which it is
FAINT = 0.03
"""What is less counts as nothing: there are very many such pairs."""
_ONE_KIND = {"SIGBUS": "SIGSEGV"}  # which of them comes is the kernel's choice


def kind_of(crash: Json) -> tuple[str | None, str | None]:
    """Only crashes of one kind are compared: of one module, by one signal."""
    frames = crash["frames"]
    module = frames[0]["module"] if frames else None
    signal = crash["signal"]
    return module or crash["called"], _ONE_KIND.get(signal, signal)


def bucketed(crashes: Mapping[str, Json]) -> list[list[str]]:
    """Groups of the keys of `crashes`, which are signatures; each in order of the keys."""
    kinds: dict[tuple[str | None, str | None], list[str]] = defaultdict(list)
    for signature in sorted(crashes):
        kinds[kind_of(crashes[signature])].append(signature)
    return [
        group
        for kind in sorted(kinds, key=str)
        for group in _of_one_kind({key: crashes[key] for key in kinds[kind]})
    ]


class _Group:
    """Signatures that are one crash, as far as is known."""

    def __init__(self, signature: str, crash: Json) -> None:
        self.signatures = [signature]
        self.places: dict[str, set[Place]] = {}
        for build_id, place in _witness(crash):
            self.places.setdefault(build_id, set()).add(place)

    def may_join(self, other: _Group) -> bool:
        """Whether no build has seen both, at different places."""
        return all(
            _agree(self.places[build_id], other.places[build_id])
            for build_id in self.places.keys() & other.places.keys()
        )

    def join(self, other: _Group) -> None:
        self.signatures += other.signatures
        for build_id, places in other.places.items():
            self.places.setdefault(build_id, set()).update(places)


def _agree(some: set[Place], others: set[Place]) -> bool:
    """Whether places of one build may be one: a stack that was cut off tells of one function."""
    whole, too = ({place for place in each if len(place) == WHOLE} for each in (some, others))
    if whole and too:
        return not whole.isdisjoint(too)
    return any(one[:2] == other[:2] for one in some for other in others)


def _witness(crash: Json) -> Iterable[tuple[str, Place]]:
    """The build, and the two innermost functions in it; each of some by itself in recursion, where
    it is chance in which of them the stack ended.
    """
    frames = [frame for frame in crash["frames"] if frame["start"] is not None]
    if not frames or not frames[0]["build_id"]:
        return
    build_id = frames[0]["build_id"]
    if crash["recursive"]:
        for frame in frames[:CIRCLE]:
            if frame["function"] != "main":
                yield build_id, ("circle", frame["module"], frame["start"])
    else:
        yield build_id, (crash["called"], *(frame["start"] for frame in frames[:2]))


def _of_one_kind(crashes: Mapping[str, Json]) -> list[list[str]]:
    """Average linkage, with pairs that cannot be linked."""
    signatures = list(crashes)
    linkage = _Linkage([_Group(key, crashes[key]) for key in signatures])
    for one, other, value in likenesses(vectors([crashes[key] for key in signatures])):
        linkage.note(one, other, value)
    linkage.link()
    return [sorted(group.signatures) for group in linkage.groups.values()]


class _Linkage:
    """Groups by number, and how alike they are. Who is not noted is not alike at all."""

    def __init__(self, groups: list[_Group]) -> None:
        self.groups = dict(enumerate(groups))
        self._alike: dict[int, dict[int, float]] = {at: {} for at in self.groups}
        self._nearest: list[tuple[float, int, int]] = []  # a heap; what is out of date stays in it

    def note(self, one: int, other: int, value: float) -> None:
        """How alike two groups are now."""
        if value < FAINT:
            return
        self._alike[one][other] = self._alike[other][one] = value
        if value >= ALIKE:
            heappush(self._nearest, (-value, min(one, other), max(one, other)))

    def link(self) -> None:
        """Joins the most alike, until none are alike enough or may join."""
        while self._nearest:
            still_working()
            value, one, other = heappop(self._nearest)
            if one not in self.groups or other not in self.groups:
                continue
            if self._alike[one].get(other) != -value:
                continue
            if self.groups[one].may_join(self.groups[other]):
                self._join(one, other)

    def _join(self, into: int, gone: int) -> None:
        """The mean over all pairs is that of the two means (Lance and Williams)."""
        stays, goes = len(self.groups[into].signatures), len(self.groups[gone].signatures)
        kept, lost = self._alike[into], self._alike.pop(gone)
        self.groups[into].join(self.groups.pop(gone))
        for other in (kept.keys() | lost.keys()) - {into, gone}:
            self._alike[other].pop(gone, None)
            mean = kept.get(other, 0.0) * stays + lost.get(other, 0.0) * goes
            self.note(into, other, mean / (stays + goes))
        kept.pop(gone, None)
