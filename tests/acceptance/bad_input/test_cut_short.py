"""A core that becomes shorter while it is read costs neither gdb nor the answer's truth."""

from __future__ import annotations

from pathlib import Path

import pytest

from acceptance.helpers import cut_short
from acceptance.helpers.broken_files import Crash, crash

ROUNDS = 60


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Crash:
    return crash(tmp_path_factory.mktemp("cut-short"), source=cut_short.SOURCE)


@pytest.mark.parametrize("way", [cut_short.in_gdb, cut_short.on_the_command_line])
def test_cut_at_random_moments(made: Crash, tmp_path: Path, way: cut_short.Way) -> None:
    told = way(made.core, tmp_path, ROUNDS)
    assert not told.wrong, told.wrong[0]
    assert told.whole + told.in_words == ROUNDS
    assert told.in_words, "no core was cut while it was read"
