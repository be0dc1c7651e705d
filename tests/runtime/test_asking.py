"""Some of the programs that ask who called them: no answer is wrong; with tables each is one."""

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
        if "-fomit-frame-pointer" not in flags:
            assert unknown == 0, answers.lines()
