"""What a stock program finds in its working directory before it starts."""

from __future__ import annotations

import subprocess
from pathlib import Path

from stock.build import build

COMMITS = 3
LINES = 4000
"""Enough output to fill a pipe (64 KiB), so that git blocks in the middle of printing."""


def build_many(directory: Path) -> None:
    """The program of many.c, stripped."""
    build("many", directory)


def make_repository(directory: Path) -> None:
    """A git repository of a few commits whose log and contents are larger than a pipe."""
    identity = (
        "-c",
        "user.name=stock",
        "-c",
        "user.email=stock@example.org",
        "-c",
        "commit.gpgsign=false",
    )
    _git(directory, "init", "-q", "-b", "main")
    for commit in range(COMMITS):
        text = "".join(f"line {number} of commit {commit}\n" for number in range(LINES))
        (directory / "text").write_text(text)
        _git(directory, "add", "text")
        _git(directory, *identity, "commit", "-q", "-m", f"commit {commit}")


def _git(directory: Path, *arguments: str) -> None:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(directory), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(
        ["/usr/bin/git", *arguments],
        cwd=directory,
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )
