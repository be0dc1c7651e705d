"""What a stranger may not do to a program: by its environment, by files beside it, by outputs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from places.needs import (
    CAPABLE_FILES,
    OTHER_OWNERS,
    OTHERS_RIGHTS,
    as_stranger,
    give_capability,
)
from tracing import lab as tracing

from runtime.ahead import CHAIN, Asked, export, names, read, stripped
from runtime.lab import LIBRARIES, PRELOAD, TIMEOUT_SECONDS, build, crash
from runtime.reports import read_reports

STATIC = str(LIBRARIES / "libwhocall.a")
OUTPUTS = ("TEXT", "RECORD", "RING")
RIGHTS = (
    "user",
    "group",
    pytest.param("capabilities", marks=pytest.mark.needs(CAPABLE_FILES)),
)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Which every user may enter."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        Path(place).chmod(0o755)
        yield Path(place)


def give_rights(program: Path, how: str) -> None:
    if how == "capabilities":
        give_capability(program).check_returncode()
    else:
        program.chmod(0o2755 if how == "group" else 0o4755)


def run(command: list[str | Path], **settings: str | Path) -> subprocess.CompletedProcess[str]:
    given = {name: str(value) for name, value in settings.items()}
    return subprocess.run(
        [str(word) for word in command],
        env={"PATH": "/usr/bin:/bin", **given},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=TIMEOUT_SECONDS,
    )


def ask(*command: str | Path) -> Asked:
    ran = run([*command, "ask"])
    return read(Path(command[-1]), ran.stdout)


@pytest.mark.needs(OTHERS_RIGHTS)
@pytest.mark.parametrize("how", RIGHTS)
def test_no_variable_of_the_crash_handler_is_obeyed(open_folder: Path, how: str) -> None:
    """Not in a program that has the handler linked to it, as LD_PRELOAD is refused there anyway."""
    library = shutil.copy(PRELOAD, open_folder)
    program = build(open_folder, "cases.c", "-O1", library, f"-Wl,-rpath,{open_folder}")
    give_rights(program, how)
    victims = {f"WHOCALL_CRASH_{name}": open_folder / f"victim-{name}" for name in OUTPUTS}
    for victim in victims.values():
        victim.write_text("root's")
        victim.chmod(0o660)
    ran = run([*as_stranger(), program, "plain"], WHOCALL_CRASH_THREADS="most", **victims)
    assert ran.returncode == -signal.SIGSEGV
    assert [report.complete for report in read_reports(ran.stderr)] == [True]
    assert "WHOCALL_CRASH" not in ran.stderr
    assert {victim.read_text() for victim in victims.values()} == {"root's"}


@pytest.mark.needs(OTHERS_RIGHTS)
@pytest.mark.parametrize("how", RIGHTS)
def test_no_variable_of_traces_is_obeyed(open_folder: Path, how: str) -> None:
    program = tracing.build(open_folder, "counted.c")
    give_rights(program, how)
    victim = open_folder / "victim"
    victim.write_text("root's")
    victim.chmod(0o660)
    given = {"WHOCALL_TRACE_FILE": victim, "WHOCALL_TRACE": "?", "WHOCALL_TRACE_EVENTS": "?"}
    ran = run([*as_stranger(), program], **given)
    assert "libwhocall-trace" not in ran.stderr
    assert victim.read_text() == "root's"


@pytest.mark.needs(OTHERS_RIGHTS)
def test_no_file_beside_a_privileged_program_is_read(open_folder: Path) -> None:
    program, twin = stripped(open_folder, STATIC)
    export(program).chmod(0o644)
    assert names(twin, ask(*as_stranger(), program).own) == [*CHAIN, "_start"]
    give_rights(program, "user")
    assert names(twin, ask(*as_stranger(), program).own) == CHAIN[:1]
    assert names(twin, ask(program).own) == [*CHAIN, "_start"]  # who has all its rights


@pytest.mark.parametrize(
    ("file_mode", "program_mode", "counts"),
    [
        (0o600, 0o700, True),
        (0o644, 0o755, True),
        (0o664, 0o775, True),  # the same group may write both
        (0o664, 0o755, False),
        (0o646, 0o757, False),
    ],
)
def test_who_may_write_the_rules(
    tmp_path: Path, file_mode: int, program_mode: int, counts: bool
) -> None:
    program, twin = stripped(tmp_path, STATIC)
    export(program).chmod(file_mode)
    program.chmod(program_mode)
    assert names(twin, ask(program).own) == ([*CHAIN, "_start"] if counts else CHAIN[:1])


@pytest.mark.needs(OTHER_OWNERS)
def test_rules_of_another_user(tmp_path: Path) -> None:
    program, twin = stripped(tmp_path, STATIC)
    written = export(program)
    os.chown(written, 12345, 12345)
    assert names(twin, ask(program).own) == CHAIN[:1]
    os.chown(program, 12345, 12345)
    assert names(twin, ask(program).own) == [*CHAIN, "_start"]
    os.chown(written, 0, 0)
    assert names(twin, ask(program).own) == [*CHAIN, "_start"]


def test_a_pipe_where_rules_would_lie(tmp_path: Path) -> None:
    """Nobody waits for a writer, neither when asked nor in a crash."""
    program, twin = stripped(tmp_path, STATIC)
    os.mkfifo(tmp_path / "program.whocall")
    assert names(twin, ask(program).own) == CHAIN[:1]
    ((report,), status, _) = crash(program)
    assert status == -signal.SIGSEGV
    assert report.complete


def given_outputs(folder: Path) -> dict[str, str]:
    return {f"WHOCALL_CRASH_{name}": str(folder / name) for name in OUTPUTS}


def test_outputs_are_for_their_owner_alone(tmp_path: Path) -> None:
    program = build(tmp_path, "cases.c", "-O1")
    before = os.umask(0)
    try:
        crash(program, "plain", **given_outputs(tmp_path))
        traced = tracing.build(tmp_path, "counted.c")
        run([traced], WHOCALL_TRACE_FILE=tmp_path / "trace")
    finally:
        os.umask(before)
    for name in (*OUTPUTS, "trace"):
        written = tmp_path / name
        assert written.stat().st_size > 0, name
        assert oct(written.stat().st_mode) == oct(0o100600), name


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize("kind", ["link", "second name", "folder"])
def test_outputs_that_lead_elsewhere(tmp_path: Path, name: str, kind: str) -> None:
    """The text goes to the standard error stream then, and nothing is written to the other."""
    program = build(tmp_path, "cases.c", "-O1")
    other = tmp_path / "other"
    other.write_text("as it was")
    place = tmp_path / name
    if kind == "link":
        place.symlink_to(other)
    elif kind == "second name":
        place.hardlink_to(other)
    else:
        place.mkdir()
    ((report,), status, _) = crash(program, "plain", **{f"WHOCALL_CRASH_{name}": str(place)})
    assert status == -signal.SIGSEGV
    assert report.complete
    assert other.read_text() == "as it was"


def test_a_trace_that_leads_elsewhere(tmp_path: Path) -> None:
    program = tracing.build(tmp_path, "counted.c")
    other = tmp_path / "other"
    other.write_text("as it was")
    (tmp_path / "link").symlink_to(other)
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe"):
        ran = run([program], WHOCALL_TRACE_FILE=tmp_path / name)
        assert f"cannot write {tmp_path / name}" in ran.stderr
        assert ran.returncode == -signal.SIGABRT  # as it means to
    assert other.read_text() == "as it was"


@pytest.mark.needs(OTHER_OWNERS)
def test_outputs_of_another_user(tmp_path: Path) -> None:
    """Who laid a file there would read what the program has in its memory."""
    program = build(tmp_path, "cases.c", "-O1")
    for name in OUTPUTS:
        (tmp_path / name).touch()
        os.chown(tmp_path / name, 12345, 12345)
    ((report,), _, output) = crash(program, "plain", **given_outputs(tmp_path))
    assert report.complete
    assert "WHOCALL_CRASH_RING" in output
    assert [(tmp_path / name).stat().st_size for name in OUTPUTS] == [0, 0, 0]


@pytest.mark.parametrize("path", ["/dev/stderr", "/proc/self/fd/2", "/dev/fd/2", "/dev/stdout"])
def test_the_systems_own_links_are_followed(tmp_path: Path, path: str) -> None:
    program = build(tmp_path, "cases.c", "-O1")
    streams = {"1": tmp_path / "out", "2": tmp_path / "err"}
    with streams["1"].open("w") as out, streams["2"].open("w") as err:
        subprocess.run(
            [program, "plain"],
            env={**os.environ, "LD_PRELOAD": str(PRELOAD), "WHOCALL_CRASH_TEXT": path},
            stdout=out,
            stderr=err,
            check=False,
        )
    taken = streams["1" if path.endswith("out") else "2"].read_text()
    assert [report.complete for report in read_reports(taken)] == [True]


def test_a_pipe_is_an_output(tmp_path: Path) -> None:
    program = build(tmp_path, "cases.c", "-O1")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    (reports, _, _) = crash(program, "plain", WHOCALL_CRASH_TEXT=str(pipe))
    assert reports == []
    text = os.read(reader, 1 << 16).decode()
    os.close(reader)
    assert read_reports(text)[0].complete
