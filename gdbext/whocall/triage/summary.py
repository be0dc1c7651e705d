"""Buckets with their counts, as plain data: what every form shows.

Schema whocall.triage/1. Keys that do not apply are null, never absent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import reduce
from typing import TYPE_CHECKING, Any

from whocall.base.timestamps import moment
from whocall.triage.buckets import bucketed
from whocall.triage.clusters import clustered, stack_of
from whocall.triage.said import alike, in_title
from whocall.triage.severity import CLASSES, SEVERITIES
from whocall.triage.signature import BAD, NULL
from whocall.triage.store import COUNTED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whocall.triage.store import Store

Json = dict[str, Any]
SHOWN = 12  # values of a count


def summarize(store: Store, older: Store | None = None) -> tuple[list[Json], dict[str, int]]:
    """The buckets, worst and largest first, and which of them (by index) each signature is in.

    With `older` each says whether that store has nothing of it.
    """
    crashes = store.crashes()
    before = older.crashes() if older is not None else {}
    counts = _counts(store)
    made, groups = [], []
    for group in bucketed({**before, **crashes}):
        own = [signature for signature in group if signature in crashes]
        if own:
            made.append(_bucket(store, own, crashes, counts))
            if older is not None:
                made[-1]["new"] = not any(signature in before for signature in group)
            groups.append(own)
    order = sorted(range(len(made)), key=lambda at: _rank(made[at]))
    buckets = [made[at] for at in order]
    _cluster(buckets, crashes)
    numbers = {signature: number for number, at in enumerate(order) for signature in groups[at]}
    return buckets, numbers


def _rank(bucket: Json) -> tuple[object, ...]:
    return SEVERITIES.index(bucket["severity"]), -bucket["count"], bucket["id"]


class _Counts:
    """Of the cores of a signature."""

    def __init__(self) -> None:
        self.by: dict[str, Counter[str | None]] = {column: Counter() for column in COUNTED}
        self.all = 0
        self.first, self.last = float("inf"), float("-inf")  # seconds since 1970


def _counts(store: Store) -> dict[str, _Counts]:
    found: dict[str, _Counts] = defaultdict(_Counts)
    for signature, column, value, number, first, last in store.counts():
        of = found[signature]
        of.by[column][value] += number
        if column == COUNTED[0]:
            of.all += number
            of.first, of.last = min(of.first, first), max(of.last, last)
    return found


def _bucket(
    store: Store,
    signatures: Sequence[str],
    crashes: Mapping[str, Json],
    counts: Mapping[str, _Counts],
) -> Json:
    of = [counts[signature] for signature in signatures]
    total: dict[str, Counter[str | None]] = {column: Counter() for column in COUNTED}
    for each in of:
        for column in COUNTED:
            total[column].update(each.by[column])
    said = reduce(alike, [crashes[signature]["said"] for signature in signatures])
    first = store.first_of(list(signatures)) or {}
    crash = crashes[first["signature"]]
    kinds = total["kind"]
    kind = min((kind for kind in kinds if kind is not None), key=lambda kind: _badness(kind, kinds))
    return {
        "id": first["signature"],
        "title": title(crash) + in_title(said),
        "severity": CLASSES[kind][0],
        "kind": kind,
        "description": CLASSES[kind][1],
        "signal": crash["signal"],
        "message": crash["message"],
        "said": said,
        "count": sum(each.all for each in of),
        "first_seen": instant(min(each.first for each in of)),
        "last_seen": instant(max(each.last for each in of)),
        "new": None,
        "cluster": None,
        "counts": {
            column: [
                {"value": value, "count": number}
                for value, number in sorted(
                    total[column].items(), key=lambda item: (-item[1], str(item[0]))
                )
            ]
            for column in COUNTED
        },
        "variants": _variants(signatures, crashes, counts),
        "frames": [_shown(frame) for frame in crash["frames"]],
        "called": crash["called"],
        "representative": {
            "path": first["path"],
            "program": first["program"],
            "build_id": first["build_id"],
            "host": first["host"],
            "report": None,
            "backtrace": None,
        },
    }


def _badness(kind: str, kinds: Mapping[str | None, int]) -> tuple[object, ...]:
    return SEVERITIES.index(CLASSES[kind][0]), -kinds[kind], kind


def _variants(
    signatures: Sequence[str],
    crashes: Mapping[str, Json],
    counts: Mapping[str, _Counts],
) -> list[Json]:
    """The signatures of a bucket, those with near stacks together, the most frequent first."""
    ordered = sorted(signatures, key=lambda each: (-counts[each].all, each))
    numbers = clustered([stack_of(crashes[signature]) for signature in ordered])
    together: dict[int, list[str]] = defaultdict(list)
    for signature, number in zip(ordered, numbers):
        together[number].append(signature)
    return [
        {"signatures": each, "count": sum(counts[one].all for one in each)}
        for each in together.values()
    ]


def _cluster(buckets: list[Json], crashes: Mapping[str, Json]) -> None:
    stacks = [stack_of(crashes[bucket["id"]]) for bucket in buckets]
    for bucket, number in zip(buckets, clustered(stacks)):
        bucket["cluster"] = number


def _shown(frame: Json) -> Json:
    start, rva = frame["start"], frame["rva"]
    return {
        "function": frame["function"],
        "inferred": frame["inferred"],
        "module": frame["module"],
        "start": None if start is None else f"{start:#x}",
        "rva": None if rva is None else f"{rva:#x}",
        "trust": frame["trust"],
        "rests_on": frame["rests_on"],
        "says": [text for text, far in frame["anchors"][:6]],
    }


def frame_text(frame: Json) -> str:
    """A shown frame as text: `name`, `name?` where it was inferred, or `sub_1136`."""
    if frame["function"] is not None:
        return f"{frame['function']}{'?' if frame['inferred'] else ''}"
    return f"sub_{int(frame['start'], 16):x}" if frame["start"] else "??"


def title(crash: Json) -> str:
    """What happened where, in a line."""
    where = "nowhere that is known"
    if crash["frames"]:
        frame = _shown(crash["frames"][0])
        where = f"{frame_text(frame)} of {frame['module']}"
    through = " in"
    if crash["called"] in (NULL, BAD):  # by a call, a jump or a return
        through = f" at {crash['called']}, the caller being"
    elif crash["called"]:
        through = f" in {crash['called']}, called by"
    return f"{crash['signal'] or 'no signal'}{through} {where}"


def instant(seconds: float) -> str:
    """ "2026-01-31T12:00:00Z"."""
    return moment(seconds, "%Y-%m-%dT%H:%M:%SZ")
