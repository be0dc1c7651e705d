"""`whocall repair` where there is nothing to repair, or nothing may be said."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import CHAIN, Crash, build, compiled
from sessions import Said, batch
from stacks import WALK, stacks, without_whocall

RUNNING = ["set startup-with-shell off", "set confirm off", "set non-stop on", "run &",
           "shell sleep 1", "thread 1"]  # fmt: skip
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
    said = batch(["whocall repair libc.so.6"], [chain.exe], **script)
    assert refused(said) == "No file libc.so.6 is loaded in gdb."
    said = batch(["whocall repair ibc.so.6"], [chain.exe, chain.core], **script)
    assert refused(said) == "No module ibc.so.6 is loaded."


def test_a_running_thread(workers: Crash, script: dict[str, Path]) -> None:
    said = batch([*RUNNING, "whocall repair"], [workers.exe], **script)
    assert refused(said) == 'The selected thread is running.  Use "interrupt" to stop it.'


def test_a_module_without_a_file(tmp_path: Path, script: dict[str, Path]) -> None:
    """It is told why; what can be repaired is, when it is not asked for by name."""
    crash = build(tmp_path, "chain", CHAIN)
    crash.exe.unlink()
    core = f"core-file {crash.core}"
    said = batch([core, "whocall repair chain"], **script)
    assert refused(said).startswith(f"No file was found for {crash.exe}. ")
    said = batch([core, "whocall repair"], **script)
    assert said.status == 0, said.err
    assert "\nchain: " not in said.out
    assert "\nThread 1: " in said.out


def test_a_module_of_another_build_gets_nothing(tmp_path: Path, script: dict[str, Path]) -> None:
    crash = build(tmp_path, "chain", CHAIN)
    (tmp_path / "other").mkdir()
    other = compiled(tmp_path / "other", "chain", CHAIN.replace("1 + *", "77 * *"))
    crash.exe.write_bytes(other.read_bytes())
    files = [crash.exe, crash.core]
    objfiles = "python print('told', [o.filename for o in gdb.objfiles() if o.owner])"
    said = batch(["whocall repair", objfiles, "info functions sub_"], files, **script)
    assert said.status == 0, said.err
    assert "\nchain: " not in said.out
    assert "\nlibc.so.6: " in said.out
    (told,) = (line for line in said.out.splitlines() if line.startswith("told"))
    assert str(tmp_path) not in told
    assert refused(batch(["whocall repair chain"], files, **script)).startswith("MISMATCH: ")


@pytest.mark.parametrize("live", [True, False])
def test_a_cache_that_cannot_be_made(live: bool, chain: Crash, script: dict[str, Path]) -> None:
    """gdb's own frames stay; so they do where it would happen by itself."""
    files = [chain.exe] if live else [chain.exe, chain.core]
    before = ["set startup-with-shell off", "run"] if live else []
    said = batch([*before, "whocall repair"], files, XDG_CACHE_HOME=NO_CACHE, **script)
    if live and script:  # nobody but gdb can read a program that gdb controls
        assert "mend it with: " in refused(said)
    else:
        assert refused(said) == (
            f"The cache directory {NO_CACHE}/whocall cannot be made: Not a directory; set"
            " XDG_CACHE_HOME to a directory that can be written."
        )
    on = ["set whocall auto-repair on", *before, WALK]
    said = batch(on, files, XDG_CACHE_HOME=NO_CACHE, **script)
    assert said.status == 0, said.err
    assert "Traceback" not in said.err
    (ours,), (own,) = stacks(said), stacks(without_whocall([*before, WALK], files))
    assert [name for _, name in ours] == [name for _, name in own]
