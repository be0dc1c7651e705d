"""No wrong cause and no wrong severity, of whatever is left of a process.

A short form: of each cause five programs, every source and every build among them, and five of what
comes near it. All of them: `python3 -m causes.many_causes`.
"""

from __future__ import annotations

import pytest

from causes.many_causes import CAUSES, FORMS, ROWS, complaints, some_programs


@pytest.mark.parametrize("cause", ROWS)
def test_what_is_told_is_so(cause: str) -> None:
    dumps = tuple(FORMS) if cause in CAUSES else ("Crashpad",)
    said = [line for program in some_programs(cause) for line in complaints(program, dumps)]
    assert said == []
