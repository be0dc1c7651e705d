"""A file holds one idea; and the project's text speaks of the project only."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from arrows import native_files

LONGEST = 350  # lines
FOREIGN = [
    re.compile(r"\bissues?[ \t]+#?\d", re.IGNORECASE),  # numbers of a tracker
    re.compile(r"(?<![\w.])/" + r"work/"),  # folders of one machine
]


def too_long(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > LONGEST:
            yield f"{path}: {lines} lines"


def foreign_words(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        data = path.read_bytes()
        if b"\0" in data:
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            if any(pattern.search(line) for pattern in FOREIGN):
                yield f"{path}:{number}: {line.strip()}"


def project_files(root: Path) -> list[Path]:
    """What is or could be committed; without git, everything outside build/."""
    git = ["git", "-C", str(root), "-c", f"safe.directory={root}", "ls-files", "-z"]
    listing = subprocess.run(
        [*git, "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode == 0:
        paths = [root / name for name in listing.stdout.split("\0") if name]
    else:
        paths = [path for path in root.rglob("*") if root / "build" not in path.parents]
    return [path for path in paths if path.is_file()]


def test_no_source_file_is_long(project_root: Path) -> None:
    python = sorted((project_root / "gdbext").rglob("*.py"))
    assert list(too_long(native_files(project_root / "native") + python)) == []


def test_files_speak_of_the_project_only(project_root: Path) -> None:
    files = project_files(project_root)
    assert project_root / "CMakeLists.txt" in files
    assert list(foreign_words(files)) == []


def test_a_long_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "long.cpp"
    path.write_text("\n" * LONGEST)
    assert list(too_long([path])) == []
    path.write_text("\n" * (LONGEST + 1))
    assert len(list(too_long([path]))) == 1


def test_a_foreign_word_is_found(tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    path.write_text(f"Fixes issue {2}.\n/{'work'}/main\nissues in #0 of frames/work/x\n")
    assert [line.split(":")[1] for line in foreign_words([path])] == ["1", "2"]


def test_a_plain_pytest_tells_all_modules_apart(project_root: Path) -> None:
    """Those outside packages are imported by their names alone."""
    bare = [
        path.name
        for path in (project_root / "tests").rglob("test_*.py")
        if not (path.parent / "__init__.py").exists()
    ]
    assert [name for name, count in Counter(bare).items() if count > 1] == []
