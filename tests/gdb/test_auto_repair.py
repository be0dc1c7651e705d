"""`set whocall auto-repair on`: gdb's own frames are right from the start."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from plugins import Plugin
from programs import Crash
from sessions import GDB, INDEX, SCRIPT, Said, batch, environment
from stacks import PAST_MAIN, WALK, Stack, functions, stacks
from wrong_gdb import loading, usable

ON = "set whocall auto-repair on"
SHOW = "show whocall auto-repair"
IS = "Repairing gdb's own commands by itself is"
START = ["set startup-with-shell off", "set confirm off", "set breakpoint pending on"]


def from_the_start(
    way: str, home: Path, commands: Sequence[str], files: Sequence[Path], script: Path = SCRIPT
) -> Said:
    """A session in which it is on before gdb reads the files of its command line."""
    setting = [f"source {script}", ON, PAST_MAIN]
    line = [GDB, "-q", "-batch", *INDEX]
    if way == ".gdbinit":
        (home / ".gdbinit").write_text("\n".join([*setting, ""]))
    else:
        line.append("-nx")
        line += [word for command in setting for word in ("-iex", command)]
    line += [word for command in commands for word in ("-ex", command)]
    ran = subprocess.run(
        [*line, *map(str, files)],
        env=environment(HOME=str(home)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    return Said(ran.stdout, ran.stderr, ran.returncode)


@pytest.mark.parametrize("way", [".gdbinit", "-iex"])
def test_a_core_of_the_command_line(way: str, plugin: Plugin, tmp_path: Path) -> None:
    files = [plugin.exe, plugin.core]
    said = from_the_start(way, tmp_path, [WALK, SHOW, "whocall revert", WALK, SHOW], files)
    repaired, reverted = stacks(said)
    inner = f"sub_{functions(plugin.library_twin)['inner']:x}"
    using = f"sub_{functions(plugin.twin)['using']:x}"
    assert [name for _, name in repaired[:5]] == [inner, "middle", "entered", using, "main"]
    assert repaired[-1][1] == "_start"
    assert [name for _, name in reverted[:4]] == ["None", "middle", "entered", "None"]
    first, last = (line for line in said.out.splitlines() if line.startswith(IS))
    assert (first, last) == (f"{IS} on.", f"{IS} off.")


def in_pages(stack: Stack) -> Stack:
    """Where libraries lie hangs on the machine's cache of them, which grows with what is installed
    after a kept core was made.
    """
    return [(pc % 4096, name) for pc, name in stack]


@pytest.mark.parametrize("program", ["chain", "plugin"])
def test_a_running_program(program: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    crash: Crash = request.getfixturevalue(program)
    said = from_the_start("-iex", tmp_path, [*START, "run", WALK], [crash.exe])
    core = from_the_start("-iex", tmp_path, [WALK], [crash.exe, crash.core])
    assert [in_pages(stack) for stack in stacks(said)] == [in_pages(one) for one in stacks(core)]
    assert [name for _, name in stacks(said)[0]][-1] == "_start"


def test_a_library_that_the_program_loads_has_names_at_once(plugin: Plugin, tmp_path: Path) -> None:
    """A breakpoint waits for it, at a function that has no name but ours."""
    inner = f"sub_{functions(plugin.library_twin)['inner']:x}"
    commands = [*START, f"break {inner}", "run", "info symbol $pc", "finish"]
    said = from_the_start("-iex", tmp_path, commands, [plugin.exe])
    assert "Breakpoint 1, 0x" in said.out
    assert f"{inner} in section .text of {plugin.library}" in said.out


def test_off_again(chain: Crash, plugin: Plugin) -> None:
    """What gdb was told stays; of another file it is told nothing."""
    off = ["set whocall auto-repair off", SHOW]
    listed = "info functions sub_"
    commands = [SHOW, f"file {chain.exe}", "echo {1}\\n", listed, ON, SHOW, "echo {2}\\n", listed]
    commands += [*off, "echo {3}\\n", listed, f"file {plugin.exe}", "echo {4}\\n", listed]
    said = batch(commands)
    assert said.status == 0, said.err
    before, on, still, other = (part.count("  sub_") for part in said.out.split("{")[1:])
    assert (before, other) == (0, 0)
    assert on == still > 0
    assert [line for line in said.out.splitlines() if line.startswith(IS)] == [
        f"{IS} off.", f"{IS} on.", f"{IS} off."
    ]  # fmt: skip


def test_where_pythons_do_not_fit(plugin: Plugin, foreign: Path, tmp_path: Path) -> None:
    """Core files and the program's file are repaired by another Python, and one warning says so."""
    commands = [*START, "run", "info symbol $pc", "info functions sub_"]
    said = from_the_start("-iex", tmp_path, commands, [plugin.exe], foreign)
    using = f"sub_{functions(plugin.twin)['using']:x}"
    assert f"  {using}" in said.out
    (warning,) = [line for line in said.err.splitlines() if "native module" in line]
    assert "repairs the program's file and core files instead" in warning
    core = from_the_start("-iex", tmp_path, ["whocall repair", WALK], [plugin.exe, plugin.core],
                          foreign)  # fmt: skip
    right = from_the_start("-iex", tmp_path, [WALK], [plugin.exe, plugin.core])
    assert stacks(core) == stacks(right)


def test_it_stays_off_where_no_python_fits(tmp_path: Path) -> None:
    damaged = tmp_path / "whocall" / usable().name
    damaged.parent.mkdir()
    damaged.write_bytes(b"no module")
    hide = "python import whocall.base.loader as l; l.checkout = lambda: None"
    said = batch([hide, ON, SHOW], script=loading(tmp_path / "wrong.gdb", tmp_path))
    assert f"{IS} off." in said.out
    assert said.err.startswith("The native module of whocall cannot be used: ")
    assert said.err.count("native module") == 1
