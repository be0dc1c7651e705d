"""Backtraces with debuginfod: of the command line, of batches of gdb, of gdb at a terminal."""

from __future__ import annotations

import subprocess

import pexpect
from oracles.tools import environment

from acceptance.modules.module_crashes import (
    SCRIPT,
    Crashed,
    answer,
    build_directory,
    chain_of,
    names,
)

NO_DEBUG_DIRECTORY = "/nonexistent"

LOCAL = ("deepest", "deeper", "calling")
"""Those of the chain whose names stripping has taken away."""


def bt(crash: Crashed, *options: str, env: dict[str, str]) -> tuple[str | None, ...]:
    """The names of the chain."""
    places = ("--debug-directory", NO_DEBUG_DIRECTORY)
    return chain_of(names(answer("bt", crash.core, *places, *options, env=env)))


def gdb(
    crash: Crashed, *commands: str, env: dict[str, str], status: int = 0
) -> subprocess.CompletedProcess[str]:
    """A batch session; gdb's own debuginfod is off while it loads the files."""
    line = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"]
    line += ["-iex", f"set debug-file-directory {NO_DEBUG_DIRECTORY}", "-ex", f"source {SCRIPT}"]
    for command in commands:
        line += ["-ex", command]
    ran = subprocess.run(
        [*line, str(crash.exe), str(crash.core)],
        env={**environment(), "TERM": "dumb", "WHOCALL_BUILD_DIR": build_directory(), **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == status, ran.stderr
    return ran


def terminal(crash: Crashed, env: dict[str, str], *options: str) -> pexpect.spawn:
    """gdb as a person has it."""
    arguments = ["-nx", "-q", "-iex", "set debuginfod enabled off", *options]
    arguments += [
        "-ex",
        f"source {SCRIPT}",
        "-iex",
        f"set debug-file-directory {NO_DEBUG_DIRECTORY}",
    ]
    child = pexpect.spawn(
        "gdb",
        [*arguments, str(crash.exe), str(crash.core)],
        env={**environment(), "TERM": "dumb", "WHOCALL_BUILD_DIR": build_directory(), **env},
        encoding="utf-8",
        timeout=60,
        dimensions=(100, 250),
    )
    child.expect_exact('type "whocall bt"')
    child.expect_exact("(gdb) ")
    for setting in ("set pagination off", "set whocall debuginfod on"):
        child.sendline(setting)
        child.expect_exact("(gdb) ")
    return child
