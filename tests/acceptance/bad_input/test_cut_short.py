"""A core that becomes shorter while it is read costs neither gdb nor the answer's truth."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from acceptance.helpers import cut_short
from acceptance.helpers.broken_files import Crash, crash
from whocall import open_symbols
from whocall.cli.main import main

ROUNDS = 60


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Crash:
    return crash(tmp_path_factory.mktemp("cut-short"), source=cut_short.SOURCE)


@pytest.mark.parametrize("way", cut_short.WAYS)
def test_cut_at_random_moments(made: Crash, tmp_path: Path, way: str) -> None:
    told = cut_short.WAYS[way](made.core, tmp_path, ROUNDS)
    assert not told.wrong, told.wrong[0]
    assert told.whole + told.in_words == ROUNDS
    assert told.in_words, "no core was cut while it was read"


LIBRARY = """
__attribute__((noipa)) int inner(int *p) { return *(volatile int *)p; }
__attribute__((noipa)) int middle(int n) { return inner((int *)(long)n) + 1; }
"""


def test_a_library_that_is_cut_between_two_commands(tmp_path: Path) -> None:
    """gdb keeps what whocall knows of a process. The cut is told once, and then the library is read
    anew, as what it is now.
    """
    library = tmp_path / "libcut.so"
    build = ["gcc", "-O1", "-shared", "-fPIC", "-x", "c", "-", "-o", library]
    subprocess.run(build, input=LIBRARY, text=True, check=True)
    source = "int middle(int); int main(int c, char **v) { return middle(c - 1) + (v == 0); }"
    flags = ("-Wl,--no-as-needed", str(library), f"-Wl,-rpath,{tmp_path}")
    made = crash(tmp_path / "crash", *flags, source=source)
    with cut_short.gdb_session() as gdb:
        gdb.ask(f"core-file {made.core}")
        truth = gdb.ask("whocall bt")
        assert "inner" in truth and "middle" in truth
        os.truncate(library, 5000)
        assert cut_short.SENTENCE in gdb.ask("whocall bt")
        after = gdb.ask("whocall bt")
        assert cut_short.SENTENCE not in after
        assert after == truth or library.name in after
        assert "#1" in gdb.ask("whocall bt")


def test_what_was_cut_before_a_command_began(
    made: Crash, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command line opens all that it uses itself: what a caller of `main` had open before is
    no matter of its.
    """
    program = tmp_path / "program"
    shutil.copy(made.exe, program)
    table = open_symbols(str(program))
    os.truncate(program, 100)
    assert main(["bt", str(made.core)]) == 0
    assert cut_short.SENTENCE not in capsys.readouterr().err
    assert len(table)
