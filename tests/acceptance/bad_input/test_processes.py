"""Processes that cannot be examined, or whose program is no longer what it was."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from places.needs import ATTACHING

import whocall
from acceptance.helpers.broken_files import Crash, complaint, run_without_privileges, told


@contextlib.contextmanager
def waiting(exe: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The program, blocked in pause() two calls below main."""
    with subprocess.Popen([exe, "wait"], stdin=subprocess.DEVNULL) as process:
        try:
            wchan = Path(f"/proc/{process.pid}/syscall")
            while not wchan.read_text().startswith("34 "):
                assert process.poll() is None
            yield process
        finally:
            process.kill()


def test_a_process_that_may_not_be_examined() -> None:
    ran = run_without_privileges("bt", "--pid", "1")
    assert ran.returncode == 1, ran.stderr
    assert ran.stderr.startswith("whocall: process 1: ")
    assert "root" in ran.stderr


@pytest.mark.needs(ATTACHING)
def test_a_process_whose_program_was_deleted(made: Crash, tmp_path: Path) -> None:
    exe = Path(shutil.copy(made.exe, tmp_path / "running"))
    with waiting(exe) as process:
        before = told("bt", "--pid", str(process.pid)).frames()
        exe.unlink()
        gone = told("bt", "--pid", str(process.pid))
        shutil.copy("/bin/true", exe)
        replaced = told("bt", "--pid", str(process.pid))
        assert process.poll() is None
    assert len(before) >= 3
    assert gone.frames() == before
    assert replaced.frames() == before


@pytest.mark.parametrize("pid", ["0", "-5", "4194399", "2147483647", "99999999999999999999"])
def test_processes_that_do_not_exist(pid: str) -> None:
    assert pid in complaint("bt", "--pid", pid)


def _parent_of(process: Path) -> str:
    try:
        told = (process / "stat").read_text(errors="replace")
    except OSError:  # it is gone
        return ""
    return told.rpartition(")")[2].split()[1]


def test_a_kernel_thread() -> None:
    """Where this container sees any: their parent is kthreadd, process 2."""
    comm = Path("/proc/2/comm")
    if not comm.exists() or comm.read_text() != "kthreadd\n":
        return
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and _parent_of(entry) == "2":
            said = complaint("bt", "--pid", entry.name)
            assert f"process {entry.name}: " in said
            assert "kernel thread" in said
            return


def test_a_zombie() -> None:
    with subprocess.Popen(["/bin/true"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        said = complaint("bt", "--pid", str(process.pid))
    assert f"process {process.pid}: " in said
    assert "kernel thread" not in said


@pytest.mark.needs(ATTACHING)
def test_a_process_in_another_debugger(made: Crash) -> None:
    with waiting(made.exe) as process:
        image = whocall.open_process(process.pid)
        try:
            said = complaint("bt", "--pid", str(process.pid))
        finally:
            image.native.close()
        assert f"process {process.pid}: " in said
        assert str(os.getpid()) in said or "debugger" in said or "traced" in said
        assert len(told("bt", "--pid", str(process.pid)).frames()) >= 3
