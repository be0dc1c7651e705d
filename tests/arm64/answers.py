"""Answers of the command line, many in one process: under qemu each start takes seconds.

python3 answers.py QUESTIONS ANSWERS    files of JSON: lists of words by name, texts by name

Runs on both machines' Pythons, which have nothing but whocall's package.
"""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from whocall.cli.main import main


def answer(words: list[str]) -> str:
    """All that the command prints, and its status."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        try:
            status = main(words)
        except SystemExit as leaving:
            status = leaving.code if isinstance(leaving.code, int) else 1
    return f"{said.getvalue()}status {status}\n"


if __name__ == "__main__":
    asked: dict[str, list[str]] = json.loads(Path(sys.argv[1]).read_text())
    answers = {name: answer(words) for name, words in asked.items()}
    Path(sys.argv[2]).write_text(json.dumps(answers))
