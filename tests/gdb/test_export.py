"""A colleague without whocall: what `whocall export` writes is all that gdb needs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from plugins import Plugin
from programs import Crash
from sessions import SCRIPT, batch, environment
from stacks import (
    PAST_MAIN,
    WALK,
    Stack,
    functions,
    nameless,
    stacks,
    truth,
    without_whocall,
)


def command_line(*arguments: str | Path) -> str:
    """What `whocall ARGUMENTS` prints."""
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def ours(stack: Stack) -> Stack:
    """The frames in the program: those of libraries have names where the machine knows these."""
    return [(pc, name) for pc, name in stack if re.match(r"sub_|main$|_start$", name)]


@pytest.fixture(scope="module", params=["command line", "in gdb", "before it runs"])
def exported(
    request: pytest.FixtureRequest, chain: Crash, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    """The file for the program, made in three ways, and what was said of it."""
    path = tmp_path_factory.mktemp("exported") / "chain.symbols"
    if request.param == "command line":
        return path, command_line("export", chain.exe, "-o", path)
    files = [chain.exe, chain.core] if request.param == "in gdb" else [chain.exe]
    said = batch([f"whocall export {path}"], files)
    assert said.status == 0, said.err
    return path, said.out[said.out.index(str(path)) :]


def test_as_debug_info_of_its_build(
    exported: tuple[Path, str], chain: Crash, tmp_path: Path
) -> None:
    path, said = exported
    match = re.search(r"DIRECTORY/(\.build-id/\w\w/\w+\.debug) ", said)
    assert match is not None
    place = tmp_path / match.group(1)
    place.parent.mkdir(parents=True)
    place.write_bytes(path.read_bytes())
    look = [PAST_MAIN, f"set debug-file-directory {tmp_path}"]
    found = without_whocall([*look, f"file {chain.exe}", f"core-file {chain.core}", WALK])
    (stack,), true = stacks(found), truth(chain)
    assert [pc for pc, _ in stack] == [pc for pc, _ in true]
    assert ours(stack) == ours(true)
    assert len(ours(stack)) >= 4
    assert "warning" not in found.err


def test_by_the_line_that_is_printed(exported: tuple[Path, str], chain: Crash) -> None:
    line = re.search(r"^  (python gdb\.lookup_objfile.*)$", exported[1], re.MULTILINE)
    assert line is not None
    said = without_whocall([PAST_MAIN, WALK, line.group(1), WALK], [chain.exe, chain.core])
    before, after = stacks(said)
    assert after == truth(chain)
    assert before[: len(after)] != after


def test_of_a_library(plugin: Plugin, tmp_path: Path) -> None:
    """Chosen among the modules of a core."""
    path = tmp_path / "library.symbols"
    said = command_line("export", plugin.core, "-o", path, "--module", "libplugin.so")
    line = said.splitlines()[-1]
    arguments = [plugin.exe, plugin.core]
    before, after = stacks(without_whocall([PAST_MAIN, WALK, line, WALK], arguments))
    (inner, *_) = nameless([(0, "inner")], plugin.library_twin)
    assert [name for _, name in before[:4]] == ["None", "middle", "entered", "None"]
    assert [name for _, name in after[:4]] == [inner[1], "middle", "entered", "None"]
    listed = functions(plugin.twin)
    caller = (after[3][0] - 1) & 0xFFF
    assert listed["using"] & 0xFFF <= caller < listed["main"] & 0xFFF


def test_functions_have_names_before_it_runs(exported: tuple[Path, str], chain: Crash) -> None:
    path, _ = exported
    said = without_whocall([f"symbol-file {path}", "info functions sub_", "info address main"],
                           [chain.exe])  # fmt: skip
    assert "  sub_" in said.out
    assert 'Symbol "main" is at 0x' in said.out
