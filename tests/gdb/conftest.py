"""What the gdb sessions work on, built once."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from plugins import Plugin, shared_plugin
from programs import DEEP, MAKER, Crash, shared
from sessions import GDB
from shared_crashes import chain, workers
from wrong_gdb import loading, usable

__all__ = ["chain", "deep", "foreign", "plugin", "workers"]


def _version_of_gdb(gdb: str = GDB) -> int:
    said = subprocess.run([gdb, "--version"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"(\d+)\.\d+\s*$", said.splitlines()[0])
    assert match is not None, said
    return int(match.group(1))


# What a release has no part in: the Debug Adapter Protocol came with gdb 14, and gdb-multiarch is
# of the system's release.
collect_ignore = ["test_dap.py"] if _version_of_gdb() < 14 else []
collect_ignore += ["test_multiarch.py"] if _version_of_gdb() != _version_of_gdb(MAKER) else []


@pytest.fixture(scope="session")
def deep() -> Crash:
    """A hundred thousand calls of one function, and abort()."""
    return shared("deep", DEEP)


@pytest.fixture(scope="session")
def plugin() -> Plugin:
    """main -> using -> entered -> middle -> inner, the last three in a library that was loaded."""
    return shared_plugin()


@pytest.fixture(scope="session")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Loads the extension into a gdb whose Python can load no native module that there is."""
    return loading(tmp_path_factory.mktemp("foreign") / "foreign.gdb", usable().parent.parent)
