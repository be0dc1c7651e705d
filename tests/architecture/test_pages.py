"""What users read first: short, with links that lead somewhere, and with every command told."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

MOST_LINES = 160  # of the README: a screen and a half
_LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
_FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_ELSEWHERE = ("http:", "https:", "mailto:")


def pages(root: Path) -> list[Path]:
    return [*sorted(root.glob("*.md")), *sorted((root / "docs").glob("*.md"))]


def anchors(page: Path) -> set[str]:
    """What GitHub makes of the headings."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each).strip().lower().replace(" ", "-") for each in headings}


def broken_links(page: Path) -> Iterator[str]:
    for path, anchor in _LINK.findall(_CODE.sub("", _FENCE.sub("", page.read_text("utf-8")))):
        if path.startswith(_ELSEWHERE):
            continue
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield f"{page}: {path}#{anchor}"


def test_the_readme_is_short(project_root: Path) -> None:
    lines = (project_root / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_LINES


def test_links_lead_somewhere(project_root: Path) -> None:
    found = pages(project_root)
    assert len(found) > 15
    assert [link for page in found for link in broken_links(page)] == []


@pytest.mark.parametrize("link", ["[a](none.md)", "[a](there.md#none)", "[a](#none)"])
def test_a_broken_link_is_found(link: str, tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("# Some `words`, here\n")
    page = tmp_path / "page.md"
    page.write_text(f"# A\n`[a](code.md)` [b](there.md#some-words-here) [c](#a)\n{link}\n")
    assert len(list(broken_links(page))) == 1


def test_every_page_is_found_from_the_readme(project_root: Path) -> None:
    readme = (project_root / "README.md").read_text(encoding="utf-8")
    named = {path for path, _ in _LINK.findall(readme)}
    assert {f"docs/{page.name}" for page in (project_root / "docs").glob("*.md")} <= named


def _wide(program: list[str]) -> list[str]:
    """The lines of its help that a screen of 80 columns has no room for; argparse makes one word of
    alternatives in brackets.
    """
    environment = {**os.environ, "COLUMNS": "80"}
    ran = subprocess.run(program, capture_output=True, text=True, check=True, env=environment)
    return [line for line in ran.stdout.splitlines() if len(line) > 80 and " | " not in line]


def test_every_command_is_told(project_root: Path) -> None:
    """Those of the command line; of those in gdb tests/gdb knows."""
    program = [sys.executable, str(project_root / "gdbext" / "whocall.py"), "-h"]
    helped = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    commands = set(re.findall(r"^    ([a-z-]+)\b", helped, re.MULTILINE))
    assert len(commands) > 15
    for command in sorted(commands):
        assert _wide([*program[:-1], command, "-h"]) == [], command
    page = (project_root / "docs" / "commands.md").read_text(encoding="utf-8")
    assert commands - set(re.findall(r"`whocall ([a-z-]+)", page)) == set()
