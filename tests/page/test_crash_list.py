"""What is said by a process that read a core is checked before `whocall serve` lists it: the core
may have taken it over.
"""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from causes.programs import SOURCES, core_of

from whocall.base.errors import Error
from whocall.cli.crash_list import buckets_of, glance_of, seen
from whocall.cli.parsing import parse_command


@pytest.fixture(scope="module")
def genuine(place: Path) -> dict[str, Any]:
    core = core_of(SOURCES["null-call"], place / "listed" / "program")
    arguments = parse_command(["serve", str(core.parent)])
    assert arguments is not None
    said: dict[str, Any] = json.loads(json.dumps(seen(str(core), arguments)))
    return said


def test_a_genuine_one_has_a_bucket(genuine: dict[str, Any]) -> None:
    glance = glance_of(genuine)
    buckets, of = buckets_of({"core": (glance, 1.0)})
    assert [bucket["id"] for bucket in buckets] == [of["core"]]
    assert glance.sentence


ODD: list[tuple[tuple[str | int, ...], Any]] = [
    (("crash", "frames"), [{}]), (("crash", "frames"), [7]), (("crash", "frames"), None),
    (("crash", "signature"), ["a"]), (("crash", "kind"), "none of ours"), (("crash",), []),
    (("crash", "address"), -1), (("crash", "address"), 1 << 64), (("crash", "program"), {}),
    (("crash", "frames", 0, "module"), 7), (("crash", "frames", 0, "anchors"), [["x", 1]]),
    (("crash", "said"), "x" * 401), (("crash", "said"), 7),
    (("crash", "more"), 1), (("crash", "through"), ["x"] * 1000), (("time",), float("nan")),
    (("time",), float("inf")), (("time",), "late"), (("sentence",), {"a": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("at", "value"), ODD)
def test_an_odd_one_has_none_and_ends_nothing(
    at: tuple[str | int, ...], value: Any, genuine: dict[str, Any]
) -> None:
    said: Any = deepcopy(genuine)
    inside = said
    for key in at[:-1]:
        inside = inside[key]
    inside[at[-1]] = value
    glance = glance_of(said)
    buckets, of = buckets_of({"core": (glance, 1.0)})
    assert (glance.crash is None) == (at[0] == "crash")
    assert bool(buckets) == bool(of) == (glance.crash is not None)
    assert at != ("time",) or glance.time is None


@pytest.mark.parametrize("said", [None, [], 7, "text"])
def test_what_is_no_answer_is_an_error(said: Any) -> None:
    with pytest.raises(Error, match="says what none of ours does"):
        glance_of(said)
