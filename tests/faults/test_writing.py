"""What commands write: whole or not at all, private, and never in place of a device or a link."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from places import mounts

from faults.commands import SCRIPT, Place, lines_of, run
from whocall.base.errors import Error
from whocall.base.output_file import write_bytes, writing, writing_text

# Those that write a file, with what they take for it; and whether others may read it.
WRITERS = {
    "signatures": False, "export": False, "unpack": True, "shrink": True, "report": True,
    "triage": True, "trace": True,
}  # fmt: skip


def writing_to(place: Place, command: str, output: str | Path) -> list[str | Path]:
    words = lines_of(place)[command]
    if "-o" in words:
        words = words[: words.index("-o")]
    return [*words, "-o", output]


@pytest.mark.parametrize("command", WRITERS)
def test_a_device_stays_one(command: str, place: Place) -> None:
    """As root a rename would put a file in its place."""
    device = Path("/dev/full")
    before = device.stat()
    for output in ("/dev/full", "/dev/stdout"):
        ran = run(writing_to(place, command, output))
        assert "Traceback" not in ran.stderr
        if output == "/dev/full":
            assert ran.returncode == 1
            assert ran.stderr.startswith("whocall: /dev/full: cannot be written: No space left")
            assert ran.stderr.count("\n") == 1
    assert Path("/dev/stdout").is_symlink()
    assert device.is_char_device()
    assert device.stat().st_ino == before.st_ino


@pytest.mark.parametrize("name", ["/dev/stdout", "-"])
@pytest.mark.parametrize("command", WRITERS)
def test_standard_output_gets_what_a_file_gets(command: str, name: str, place: Place) -> None:
    """And nothing beside: it may be the input of another tool."""
    there = place.folder / "there"
    assert run(writing_to(place, command, there)).returncode == 0
    ran = subprocess.run(
        [sys.executable, SCRIPT, *map(str, writing_to(place, command, name))],
        capture_output=True, check=True, stdin=subprocess.DEVNULL, cwd=place.folder,
    )  # fmt: skip
    assert ran.stdout == there.read_bytes()
    assert not (place.folder / "-").exists()
    assert b" /dev/stdout" not in ran.stderr  # no command that takes it by that name


@pytest.mark.parametrize("command", ["signatures", "export", "unpack", "shrink"])
def test_a_terminal_is_not_given_what_is_no_text(command: str, place: Place) -> None:
    ours, theirs = os.openpty()
    words = [sys.executable, SCRIPT, *map(str, writing_to(place, command, "-"))]
    ran = subprocess.run(words, stdout=theirs, stderr=subprocess.PIPE, text=True, check=False)
    os.close(theirs)
    os.set_blocking(ours, False)
    with pytest.raises(OSError):  # nothing was written to it
        os.read(ours, 1)
    os.close(ours)
    assert ran.returncode == 2
    assert ran.stderr.startswith("whocall: what is written is no text, and standard output is a")
    assert ran.stderr.count("\n") == 1


def test_json_and_a_core_do_not_share_standard_output(place: Place) -> None:
    ran = run([*writing_to(place, "unpack", "-"), "--json"])
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "name a file for the core, or no --json" in ran.stderr


@pytest.mark.parametrize("command", WRITERS)
def test_a_file_may_be_called_as_standard_output_is(command: str, place: Place) -> None:
    words = [sys.executable, SCRIPT, *map(str, writing_to(place, command, "./-"))]
    subprocess.run(words, cwd=place.folder, check=True, capture_output=True)
    assert (place.folder / "-").stat().st_size


@pytest.mark.parametrize("command", WRITERS)
def test_a_link_is_followed(command: str, place: Place) -> None:
    target, link = place.folder / "target", place.folder / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to("target")
    assert run(writing_to(place, command, link)).returncode == 0
    assert link.is_symlink()
    assert target.read_bytes() != b"old"
    assert target.stat().st_mode & 0o777 == 0o640
    dangling = place.folder / "dangling"
    dangling.symlink_to("new")
    assert run(writing_to(place, command, dangling)).returncode == 0
    assert dangling.is_symlink()
    assert (place.folder / "new").is_file()


@pytest.mark.parametrize("command", WRITERS)
def test_who_may_read_it(command: str, place: Place) -> None:
    output = place.folder / "output"
    assert run(writing_to(place, command, output), umask=0o022).returncode == 0
    assert output.stat().st_mode & 0o777 == (0o600 if WRITERS[command] else 0o644)
    assert [path.name for path in place.folder.iterdir() if path.name.endswith(".part")] == []


def test_a_recorded_trace_is_its_users_alone(trace: Path) -> None:
    assert trace.stat().st_mode & 0o777 == 0o600


@pytest.fixture
def everyones(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "everyones"
    folder.mkdir()
    folder.chmod(0o1777)
    yield folder


@pytest.mark.needs("files of other users")
def test_a_link_of_somebody_else_is_not_followed(everyones: Path, tmp_path: Path) -> None:
    """In a folder like /tmp, as the kernel refuses where fs.protected_symlinks is set."""
    (everyones / "out").symlink_to(tmp_path / "target")
    os.lchown(everyones / "out", 12345, 12345)
    with pytest.raises(Error, match="a link that user 12345 has put there"):
        write_bytes(everyones / "out", b"x", private=True)
    assert not (tmp_path / "target").exists()


def test_what_fails_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("old")
    with pytest.raises(ValueError), writing_text(tmp_path / "out", private=True) as file:
        file.write("new" * 100_000)
        raise ValueError
    assert (tmp_path / "out").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_fault_beside_the_output_is_not_the_outputs(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), writing(tmp_path / "out", private=True):
        (tmp_path / "other").read_text()
    with pytest.raises(Error, match="nowhere/out: cannot be written: No such file"):
        write_bytes(tmp_path / "nowhere" / "out", b"", private=True)
    with pytest.raises(Error, match="cannot be written: Is a directory"):
        write_bytes(tmp_path, b"", private=True)


def test_a_fifo_that_nobody_reads_is_nothing_to_wait_at(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(Error, match="nobody reads from it"):
        write_bytes(tmp_path / "fifo", b"x", private=True)


@pytest.mark.needs("mounts of its own")
def test_the_disk_that_is_full_is_named(place: Place) -> None:
    """Not the folder of temporary files."""
    small = place.folder / "small"
    small.mkdir()
    words = ["unpack", place.core, "-o", small / "core"]
    command = " ".join(map(str, [sys.executable, SCRIPT, *words]))
    ran = subprocess.run(
        [sys.executable, mounts.__file__, "sh", "-c",
         f"mount -t tmpfs -o size=16k none {small}; {command}"],
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert ran.returncode == 1
    assert f"{small} is full" in ran.stderr
    assert "write to another folder" in ran.stderr
