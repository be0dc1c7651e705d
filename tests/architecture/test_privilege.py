"""libwhocall reads the environment and opens files for writing in one place each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from arrows import native_files

HOME = "privilege.h"
ENVIRONMENT = re.compile(r"\b(?:secure_)?getenv\w*\s*\(|\benviron\b|\b__environ\b")
WRITING = re.compile(
    r"\b(?:open|open64|openat|creat)\s*\([^;]*\b(?:O_WRONLY|O_RDWR|O_CREAT|O_APPEND)"
    r"|\b(?:creat|fopen|freopen|mkstemp)\s*\("
)


def strays(name: str, text: str) -> Iterator[str]:
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    if name != HOME:
        for pattern in (ENVIRONMENT, WRITING):
            yield from (f"{name}: {found[0]}" for found in pattern.finditer(code))


@pytest.mark.parametrize(
    "planted",
    [
        'const char* file = getenv("WHOCALL_X");',
        'secure_getenv("X")',
        "for (char** each = environ; *each; ++each) {}",
        "const int file = open(path,\n    O_CLOEXEC | O_WRONLY);",
        'fopen(path, "w")',
    ],
)
def test_another_way_in_is_seen(planted: str) -> None:
    assert list(strays("x.cpp", planted))
    assert not list(strays(HOME, planted))


def test_there_is_one_way_in(project_root: Path) -> None:
    native = project_root / "native"
    files = [*native_files(native / "runtime"), *native_files(native / "rules")]
    assert native / "runtime" / HOME in files
    assert [stray for path in files for stray in strays(path.name, path.read_text())] == []
