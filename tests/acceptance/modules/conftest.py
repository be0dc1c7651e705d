"""A crash that debuginfod is asked about, and the server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from oracles.tools import run

from acceptance.modules.debuginfod_server import Server, serving
from acceptance.modules.module_crashes import Crashed, crashed


@pytest.fixture(scope="session")
def crash(tmp_path_factory: pytest.TempPathFactory) -> Crashed:
    """A program that is asked about; whoever moves its files puts them back."""
    return crashed(tmp_path_factory.mktemp("debuginfod"))


@pytest.fixture
def server(crash: Crashed, tmp_path: Path) -> Iterator[Server]:
    """Has the debug files of both, and both files."""
    place = tmp_path / "served"
    place.mkdir()
    for name in ("prog", "libsteps.so"):
        run(["objcopy", "--only-keep-debug", str(crash.twin(name)), str(place / f"{name}.debug")])
        (place / name).write_bytes((crash.directory / name).read_bytes())
    with serving(place) as found:
        yield found
