"""`whocall repair` where there is nothing to repair, or nothing may be said."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import CHAIN, Crash, build, compiled
from sessions import Said, batch
from stacks import WALK, Stack, stacks, without_whocall

RUNNING = ["set startup-with-shell off", "set confirm off", "set non-stop on", "run &",
           "thread 1"]  # fmt: skip
LIBC = "whocall repair libc.so.6"
NO_CACHE = "/dev/null/cache"


@pytest.fixture(params=["right", "wrong"])
def script(request: pytest.FixtureRequest) -> dict[str, Path]:
    """Of a gdb that can load the native module, and of one that cannot."""
    return {"script": request.getfixturevalue("foreign")} if request.param == "wrong" else {}


def refused(said: Said) -> str:
    """The one complaint."""
    assert said.status == 1
    lines = [line for line in said.err.splitlines() if not line.startswith("warning: ")]
    assert "Traceback" not in said.err
    return lines[-1]


def test_no_program(script: dict[str, Path]) -> None:
    said = batch(["whocall repair"], **script)
    assert refused(said) == 'There is no program.  Use "file PROGRAM" or "core-file CORE" first.'


def test_unknown_names(chain: Crash, script: dict[str, Path]) -> None:
    said = batch(
        [LIBC, f"core-file {chain.core}", "whocall repair ibc.so.6"], [chain.exe], **script
    )
    assert "No file libc.so.6 is loaded in gdb.\n" in said.err
    assert refused(said) == "No module ibc.so.6 is loaded."


def test_a_running_thread(workers: Crash, script: dict[str, Path]) -> None:
    said = batch([*RUNNING, "whocall repair"], [workers.exe], **script)
    assert refused(said) == 'The selected thread is running.  Use "interrupt" to stop it.'


@pytest.fixture(scope="module")
def missing(tmp_path_factory: pytest.TempPathFactory) -> Crash:
    """The program's file is there no more."""
    crash = build(tmp_path_factory.mktemp("missing"), "chain", CHAIN)
    crash.exe.unlink()
    return crash


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> Crash:
    """The program's file is one of another build."""
    crash = build(tmp_path_factory.mktemp("rebuilt"), "chain", CHAIN)
    other = CHAIN.replace("1 + *", "77 * *")
    compiled(tmp_path_factory.mktemp("other"), "chain", other).replace(crash.exe)
    return crash


def test_a_module_without_a_file(missing: Crash, script: dict[str, Path]) -> None:
    """It is told why; what can be repaired is, when it is not asked for by name."""
    said = batch([f"core-file {missing.core}", "whocall repair", "whocall repair chain"], **script)
    assert refused(said).startswith(f"No file was found for {missing.exe}. ")
    assert "\nchain: " not in said.out
    assert "\nThread 1: " in said.out


def test_a_module_of_another_build_gets_nothing(rebuilt: Crash, script: dict[str, Path]) -> None:
    objfiles = "python print('told', [o.filename for o in gdb.objfiles() if o.owner])"
    commands = ["whocall repair", objfiles, "info functions sub_", "whocall repair chain"]
    said = batch(commands, [rebuilt.exe, rebuilt.core], **script)
    assert "\nchain: " not in said.out
    assert "\nlibc.so.6: " in said.out
    (told,) = (line for line in said.out.splitlines() if line.startswith("told"))
    assert str(rebuilt.exe.parent) not in told
    assert refused(said).startswith("MISMATCH: ")


LIVE = ("set startup-with-shell off", "run")


@pytest.fixture(scope="module", params=[True, False], ids=["live", "core"])
def own(request: pytest.FixtureRequest, chain: Crash) -> tuple[bool, list[str | Path], Stack]:
    """Whether it runs; its files; gdb's stack without whocall."""
    files = [chain.exe, *([] if request.param else [chain.core])]
    (stack,) = stacks(without_whocall([*LIVE * request.param, WALK], files))
    return request.param, files, stack


def test_a_cache_that_cannot_be_made(
    own: tuple[bool, list[str | Path], Stack], script: dict[str, Path]
) -> None:
    """gdb's own frames stay; so they do where it would happen by itself."""
    live, files, stack = own
    commands = ["set whocall auto-repair on", *LIVE * live, WALK, "whocall repair"]
    said = batch(commands, files, XDG_CACHE_HOME=NO_CACHE, **script)
    if live and script:  # nobody but gdb can read a program that gdb controls
        assert "fix it with: " in refused(said)
    else:
        assert refused(said) == (
            f"The cache directory {NO_CACHE}/whocall cannot be made: Not a directory; set"
            " XDG_CACHE_HOME to a directory that can be written."
        )
    (found,) = stacks(said)
    assert [name for _, name in found] == [name for _, name in stack]
