"""The package is compiled as a whole before the sandbox: what is imported in it would be compiled
each time anew.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from faults.commands import SCRIPT, Place

TAG = sys.implementation.cache_tag


@pytest.mark.parametrize("way", [["whocall.py"], ["-m", "whocall"]])
def test_all_of_it_by_the_first_command(way: list[str], place: Place, tmp_path: Path) -> None:
    package = tmp_path / "whocall"
    shutil.copytree(
        SCRIPT.parent / "whocall", package, ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(SCRIPT, tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    environment.pop("PYTHONPYCACHEPREFIX", None)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    for _ in range(2):  # `python3 -m` compiles what it begins with by itself
        ran = subprocess.run(
            [sys.executable, *way, "bt", str(place.core)],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran
    missing = [
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if not (path.parent / "__pycache__" / f"{path.stem}.{TAG}.pyc").exists()
    ]
    assert missing == []
