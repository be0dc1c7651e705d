"""Each source includes what it uses of the standard library."""

from __future__ import annotations

from pathlib import Path

from includes import missing, texts

PLANTED = {
    "own.h": "#pragma once\n#include <vector>\n",
    "one.cpp": '#include "own.h"\nstd::vector<int> given();  // std::optional\n',
    "two.cpp": '#include "own.h"\nstd::vector<std::uint64_t> given();\n',
}


def test_nothing_comes_by_chance(project_root: Path) -> None:
    assert list(missing(texts(project_root / "native"))) == []


def test_a_missing_one_is_found() -> None:
    assert list(missing(PLANTED)) == [("two.cpp", "cstdint")]
