"""No wrong cause and no wrong severity, of whatever is left of a process.

A short form: of each cause five programs, every source and every build among them. All of them:
`python3 -m page.many_causes`.
"""

from __future__ import annotations

import pytest

from page.many_causes import CAUSES, complaints, programs


@pytest.mark.parametrize("cause", CAUSES)
def test_what_is_told_is_so(cause: str) -> None:
    chosen = [program for program in programs(each=5) if program.cause == cause]
    assert len(chosen) == 5
    assert [said for program in chosen for said in complaints(program)] == []
