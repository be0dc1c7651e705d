"""No string from outside becomes a command but through the two doors."""

from __future__ import annotations

from pathlib import Path

import pytest
from doors import door_faults

IMPORTS = """
from whocall.base.gdb_lines import folders, line, named, python_call
from whocall.base.programs import flag, gdb_option, option, start, users_own, words
"""


def test_nothing_goes_past_the_doors(project_root: Path) -> None:
    assert list(door_faults(project_root / "gdbext")) == []


PLANTED = [
    'gdb.execute(f"file {path}")',
    'gdb.execute("info files")',
    "import gdb as g\ng.execute(path)",
    "from gdb import execute",
    "run = gdb.execute",
    'getattr(gdb, "execute")(path)',
    "getattr(gdb, name)(path)",
    "gdb.parse_and_eval(name)",
    "gdb.Breakpoint(name)",
    "gdb.lookup_type(name)",
    'console.said(f"file {path}")',
    'console.run("file " + path)',
    "console.run(command, path)",
    "from whocall.gdb.host import console as c\nc.run(command)",
    'line(f"source {path}")',
    "folders(path, [])",
    'python_call(f"open({path!r})")',
    "from whocall.base.gdb_lines import line as said\nsaid(path)",
    "import subprocess\nsubprocess.run([path])",
    "from subprocess import Popen",
    "def f():\n    import subprocess as s\n    s.call(path)",
    "import asyncio.subprocess",
    "from concurrent.futures import ProcessPoolExecutor",
    "os.execvp(path, [path])",
    "os.system(path)",
    "os.popen(path)",
    "os.posix_spawn(path, [path], {})",
    "from os import execv",
    "start(path, [], shell=True)",
    "start(program, [Argument(path)])",
    "start(program, words(path))",
    'start(program, words("-c", path))',
    'start(program, words(f"-ex=file {path}"))',
    "start(program, [option(name, path)])",
    "start(program, users_own([path]))",
    "start(program, [programs.Argument(path)])",
    "programs.gdb_option(path, script)",
    'console.run("file", AcceptedPath(path))',
    'console.run("echo", PlainName(path))',
    'gdb_option("-ex", GdbLine(path))',
    "console.users_value(name)",
]


@pytest.mark.parametrize("planted", PLANTED)
def test_a_way_past_is_found(tmp_path: Path, planted: str) -> None:
    (tmp_path / "whocall").mkdir()
    (tmp_path / "whocall" / "x.py").write_text(f"{IMPORTS}{planted}\n")
    assert list(door_faults(tmp_path)) != []


@pytest.mark.parametrize(
    "allowed",
    [
        'console.said("info files")',
        'console.run("core-file", named(path))',
        'console.said("info symbol", address)',
        'gdb.lookup_type("unsigned int")',
        'start(program, [*words("-nx", "-q"), option("--search", path), path_of(core)])',
        "start(program, [option(flag(name), value)])",
        'gdb_option("-iex", line("set sysroot", accepted(path)))',
        'os.environ["PATH"]',
        'getattr(gdb, "missing_debug_handlers", None)',
    ],
)
def test_what_goes_through_a_door_is_none(tmp_path: Path, allowed: str) -> None:
    (tmp_path / "x.py").write_text(f"{IMPORTS}{allowed}\n")
    assert list(door_faults(tmp_path)) == []
