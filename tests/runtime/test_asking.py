"""Some of the programs that ask who called them: no answer is wrong, and with tables each is one.

With neither tables nor frame pointers nine of ten are.
"""

from __future__ import annotations

from pathlib import Path

from runtime.asking import BUILDS, HOST, run
from runtime.lab import LIBRARIES


def test_random_programs_that_ask(tmp_path: Path) -> None:
    answers = run(2 * len(BUILDS), 0, tmp_path, HOST, LIBRARIES)
    assert answers.wrong == [], answers.lines()
    for build, flags in BUILDS.items():
        true, unknown = answers.kinds[build, "true"], answers.kinds[build, "cannot tell"]
        assert true + unknown > 50, build
        assert unknown == 0 or ("-fomit-frame-pointer" in flags and true > 9 * unknown), build
