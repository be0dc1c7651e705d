"""The same inside gdb: a session ends with status 1 and one sentence, or tells what it can."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import whocall
from acceptance.helpers.broken_files import SCRIPT, Crash, Ran, crash, notes_first, offset_of, told


def gdb(*arguments: str | Path, command: str = "whocall bt") -> Ran:
    """One batch session; never a traceback, never a signal."""
    line = ["gdb", "-nx", "-q", "-batch", "-ex", f"source {SCRIPT}", "-ex", command]
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "DEBUGINFOD_URLS")}
    ran = subprocess.run(
        [*line, *map(str, arguments)],
        env={**kept, "TERM": "dumb"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode >= 0, ran.stderr
    assert "Traceback" not in ran.stdout + ran.stderr
    assert "Python Exception" not in ran.stderr
    return Ran(ran.stdout, ran.stderr, ran.returncode)


def complaint(*arguments: str | Path, command: str = "whocall bt") -> str:
    """The last line on stderr of a session that fails."""
    ran = gdb(*arguments, command=command)
    assert ran.status == 1, (ran.out, ran.err)
    return ran.err.rstrip().rpartition("\n")[2]


PROCESS_COMMANDS = (
    "whocall",
    "whocall bt",
    "whocall bt -json",
    "whocall bt -all",
    "whocall compare",
)


@pytest.mark.parametrize("command", PROCESS_COMMANDS)
def test_no_process(made: Crash, command: str) -> None:
    """Neither with nothing loaded nor with a program that does not run."""
    for arguments in ((), (made.exe,)):
        said = complaint(*arguments, command=command)
        assert "run" in said or "core" in said, said


@pytest.mark.parametrize("name", ["missing", "empty", "text", "folder"])
def test_files_that_gdb_does_not_take(made: Crash, name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("text\n" * 99)
    (tmp_path / "folder").mkdir()
    said = complaint(made.exe, "-c", tmp_path / name)
    assert "run" in said or "core" in said, said


def _pcs(ran: Ran) -> list[int]:
    """whocall's frames, which end in a bracket; gdb shows frame 0 of a core by itself."""
    lines = [line for line in ran.out.splitlines() if line.endswith("]")]
    return Ran("\n".join(lines), "", 0).frames()


def test_another_program(made: Crash) -> None:
    """gdb itself warns at best; whocall says that the program it was given is another one."""
    ran = gdb("/bin/true", made.core)
    assert ran.status == 0
    whole = told("bt", made.core).frames()
    assert _pcs(ran)[:1] == whole[:1]
    assert set(_pcs(ran)) <= set(whole), "false frames"
    assert "/bin/true" in ran.out + ran.err


def test_no_program(made: Crash) -> None:
    """gdb finds it by the core's notes, or not: whocall does."""
    ran = gdb("-c", made.core)
    assert ran.status == 0
    assert _pcs(ran) == told("bt", made.core, "--past-main").frames()[: len(_pcs(ran))]
    assert len(_pcs(ran)) >= 3


def test_the_program_is_gone(tmp_path: Path) -> None:
    other = crash(tmp_path)
    whole = told("bt", other.core, "--past-main").frames()
    other.exe.unlink()
    ran = gdb("-c", other.core)
    assert ran.status == 0
    assert _pcs(ran)[:1] == whole[:1]
    assert set(_pcs(ran)) <= set(whole), "false frames"
    assert str(other.exe) in ran.out + ran.err


@pytest.mark.parametrize("behind", [0, 20, 1024])
def test_truncated_in_the_stack(made: Crash, tmp_path: Path, behind: int) -> None:
    """gdb warns of the cut itself; the innermost frame is there in any case."""
    core = notes_first(made.core.read_bytes())
    path = tmp_path / "cut.core"
    path.write_bytes(core)
    with whocall.open_core(str(path)) as image:
        trace = image.report().threads[0]
    path.write_bytes(core[: offset_of(core, trace.sp) + behind])
    ran = gdb(made.exe, path)
    assert ran.status == 0, ran.err
    whole = [frame.pc for frame in trace.frames]
    found = _pcs(ran)
    assert found[: 3 if behind == 1024 else 1] == whole[: 3 if behind == 1024 else 1]
    assert "truncated" in ran.err


@pytest.mark.parametrize(
    "command",
    ["whocall functions -module nonsense", "whocall audit /nowhere/file",
     "whocall symbol", "whocall symbol no_such_name",
     "whocall nonsense", "whocall bt -nonsense", "whocall bt 0", "whocall bt -without nonsense",
     "whocall functions [", "whocall export /nowhere/at/all"],
)  # fmt: skip
def test_wrong_arguments(made: Crash, command: str) -> None:
    said = complaint(made.exe, made.core, command=command)
    assert len(said) > 15, said
