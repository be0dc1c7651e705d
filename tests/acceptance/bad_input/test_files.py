"""Files that cannot be used as they are: one sentence that names the file, says what is wrong and
what to do, and never a traceback; what can still be told is told.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from acceptance.helpers.broken_files import (
    Crash,
    check_chain,
    complaint,
    foreign_header,
    run,
    run_without_privileges,
    told,
)

UNSUPPORTED = {
    "SPARC": (2, True),
    "Alpha": (0x9026, False),
    "M68K": (4, True),
    "?": (0xFEED, False),
}


def test_nothing_is_wrong(made: Crash) -> None:
    """What the others are measured by."""
    ran = told("bt", made.core)
    assert ran.err == ""
    check_chain(ran.frames(), made)


def test_a_root_that_is_not_there_is_not_passed_over(made: Crash, tmp_path: Path) -> None:
    """The files of this machine would be taken in its place."""
    nowhere = tmp_path / "nowhere"
    for words in (["bt", made.core], ["modules", made.core], ["compare", made.core]):
        said = complaint(*words, "--sysroot", nowhere)
        assert f"{nowhere}: there are no files of a machine: No such file or directory" in said


def test_a_directory_that_is_not_there_is_not_passed_over(made: Crash, tmp_path: Path) -> None:
    """Nothing was to be found elsewhere, and a slip of the pen looks like files that are gone."""
    nowhere = tmp_path / "nowhere"
    said = complaint("bt", made.core, "--search", nowhere)
    assert f"{nowhere}: No such file or directory; name a directory in --search" in said
    said = complaint("modules", made.core, "--search", made.core)
    assert f"{made.core}: Not a directory; name one in --search" in said


@pytest.mark.parametrize("option", ["--search", "--sysroot", "--max-frames", "--thread"])
def test_two_dashes_are_a_value_as_others_are(option: str, made: Crash) -> None:
    """argparse gives an empty list in their place, up to Python 3.12."""
    said = run("bt", made.core, f"{option}=--").err
    assert "--" in said and "[]" not in said and said.count("\n") == 1, said


def _unusable(directory: Path) -> dict[str, Path | bytes]:
    """Files that cannot be opened or are nothing that one could read."""
    (directory / "empty").touch()
    (directory / "text").write_text("It is a text,\nand nothing else.\n" * 9)
    (directory / "zeros").write_bytes(bytes(9999))
    (directory / "folder").mkdir()
    (directory / "loop").symlink_to(directory / "loop")
    (directory / "dangling").symlink_to(directory / "gone")
    os.mkfifo(directory / "fifo")
    names = ("missing", "empty", "text", "zeros", "folder", "loop", "dangling", "fifo")
    unusable: dict[str, Path | bytes] = {name: directory / name for name in names}
    unusable["inside a file"] = directory / "text" / "core"
    unusable["long"] = directory / ("x" * 300)
    unusable["device"] = Path("/dev/zero")
    unusable["not UTF-8"] = os.fsencode(directory) + b"/caf\xe9"
    return unusable


KINDS = ("missing", "empty", "text", "zeros", "folder", "loop", "dangling", "fifo",
         "inside a file", "long", "device", "not UTF-8")  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", ["bt", "modules", "compare", "functions", "symbol"])
def test_unusable_files(command: str, kind: str, tmp_path: Path) -> None:
    path = _unusable(tmp_path)[kind]
    said = complaint(command, path, *(["1000"] if command == "symbol" else []))
    assert os.fsencode(path).decode("utf-8", "replace") in said.replace("\\xe9", "\ufffd")
    assert ". " in said, "no remedy"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "not UTF-8"])
def test_unusable_programs(made: Crash, kind: str, tmp_path: Path) -> None:
    """The core says where its program is: the backtrace is there all the same."""
    path = _unusable(tmp_path)[kind]
    ran = told("bt", made.core, str(path))
    assert str(path) in ran.err
    check_chain(ran.frames(), made)


@pytest.mark.parametrize("command", ["bt", "modules", "compare"])
def test_programs_are_no_cores(made: Crash, command: str) -> None:
    said = complaint(command, made.exe, made.exe)
    assert f"{made.exe}: is not a core file" in said
    assert "Give the core as the first file" in said


def test_a_core_is_no_program(made: Crash) -> None:
    ran = told("bt", made.core, made.core)
    assert f"{made.core} " in ran.err
    assert str(made.exe) in ran.err
    check_chain(ran.frames(), made)


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_cores_of_machines_that_whocall_does_not_know(name: str, tmp_path: Path) -> None:
    machine, big = UNSUPPORTED[name]
    path = tmp_path / "foreign.core"
    path.write_bytes(foreign_header(machine, big=big))
    said = complaint("bt", path)
    assert str(path) in said
    assert "instruction set" in said
    assert "x86_64" in said, "does not say what it knows"


def test_other_peoples_cores_of_unknown_machines() -> None:
    """Of the folder with cores of others, where it is; synthetic ones stand above."""
    folder = Path(__file__).resolve().parents[4] / "shared" / "cores" / "lldb"
    for name in ("linux-ppc64le.core", "linux-s390x.core"):
        path = folder / name
        if path.exists():
            assert f"{path}: is of an instruction set" in complaint("bt", path)


def test_a_file_that_may_not_be_read(copy: Path) -> None:
    copy.chmod(0)
    ran = run_without_privileges("bt", copy)
    assert ran.returncode == 1, ran.stderr
    assert ran.stderr.startswith(f"whocall: {copy}: cannot be opened: Permission denied. ")


def test_wrong_addresses(made: Crash) -> None:
    assert "nor the name of a function" in complaint("symbol", made.exe, "nonsense")
    assert "in no known function" in told("symbol", made.exe, "ffffffffffffffff").out
