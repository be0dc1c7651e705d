"""`whocall bt` obeys gdb's settings of how a backtrace looks as gdb's own `bt` does."""

from __future__ import annotations

import json
import re

import pytest
from programs import Crash
from sessions import batch


def lines_of(crash: Crash, *commands: str) -> tuple[list[str], list[str]]:
    """The frames of `whocall bt`, and of gdb's `bt`, with debug information."""
    marked = [*commands, "echo <ours>\\n", "whocall bt", "echo <theirs>\\n", "bt"]
    said = batch(marked, [crash.twin, crash.core]).out.split("<ours>\n")[1]
    ours, theirs = (part.splitlines() for part in said.split("<theirs>\n"))
    return [each for each in ours if each[0] == "#"], [each for each in theirs if each[0] == "#"]


def levels(lines: list[str]) -> list[int]:
    return [int(re.split(r"\s", line[1:])[0]) for line in lines]


def test_addresses_are_left_out(chain: Crash) -> None:
    for line in lines_of(chain, "set print address off")[0]:
        assert re.match(r"#\d+ +\S+ (\(|at )", line), line
    with_them, _ = lines_of(chain, "set print address on")
    assert any(re.match(r"#\d+ +0x[0-9a-f]{16} in ", line) for line in with_them)


def test_places_are_left_out(chain: Crash) -> None:
    ours, theirs = lines_of(chain, "set print frame-info short-location")
    assert not any(" at " in line or " from " in line for line in ours + theirs)
    assert all(line.endswith("]") for line in ours)
    ours, theirs = lines_of(chain, "set print frame-info location")
    assert all(" at " in line for line in ours)
    assert any(" at " in line for line in theirs)


@pytest.mark.parametrize("limit", [1, 3])
def test_no_frame_beyond_the_limit(limit: int, chain: Crash) -> None:
    ours, theirs = lines_of(chain, f"set backtrace limit {limit}")
    assert levels(ours) == levels(theirs) == list(range(limit))
    assert len(lines_of(chain, "set backtrace limit unlimited")[0]) > 3


def test_counts_within_the_limit(chain: Crash) -> None:
    counts = (2, 5, -2)
    commands = ["set backtrace limit 3"]
    for count in counts:
        commands += [f"echo <{count}>\\n", f"whocall bt {count}", "echo <theirs>\\n", f"bt {count}"]
    said = batch([*commands, "echo <json>\\n", "whocall bt -json"], [chain.twin, chain.core]).out
    for count in counts:
        ours, theirs = re.split(r"<[^>]+>\n", said.split(f"<{count}>\n")[1])[:2]
        frames = [
            [line for line in text.splitlines() if line.startswith("#")] for text in (ours, theirs)
        ]
        assert levels(frames[0]) == levels(frames[1]), count
    found = json.loads(said.split("<json>\n")[1])["threads"][0]
    assert [each["level"] for each in found["frames"]] == [0, 1, 2]
    assert found["stop"]["reason"] == "count"
