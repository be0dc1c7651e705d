"""Cores that are cut off, and cores whose program is another one, or gone: the user is told, no
wrong frame is printed, and what can still be told is told.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import whocall
from acceptance.helpers.broken_files import (
    PT_LOAD,
    Crash,
    check_chain,
    complaint,
    crash,
    notes_first,
    offset_of,
    segments,
    told,
)


def check_what_is_left(found: list[int], whole: list[int], made: Crash) -> None:
    """Without the program's file there are neither names nor rows of it, and the part of it that
    holds its unwind tables is not in the core. But its code is, and the stack is whole: no frame
    may be false, and the program's own are all there.
    """
    rest = iter(whole)
    assert all(pc in rest for pc in found), "false frames, or in false order"
    check_chain(found, made)


def test_another_program(made: Crash) -> None:
    ran = told("bt", made.core, "/bin/true")
    assert "/bin/true" in ran.err
    assert "build id" in ran.err
    assert str(made.exe) in ran.err
    check_chain(ran.frames(), made)


def test_another_program_in_its_place(made: Crash, tmp_path: Path) -> None:
    """It was built anew since: the new file lends neither names nor rows, and the user is told."""
    other = crash(tmp_path)
    whole = told("bt", other.core, "--past-main").frames()
    shutil.copy("/bin/true", other.exe)
    ran = told("bt", other.core)
    assert str(other.exe) in ran.err
    assert "build id" in ran.err
    check_what_is_left(ran.frames(), whole, other)


def test_another_program_without_build_ids(tmp_path: Path) -> None:
    """Nothing proves the mismatch but the layout; the true program's names may not be replaced."""
    one = crash(tmp_path / "one", "-Wl,--build-id=none")
    other = tmp_path / "other"
    text = "int helper(int n) { return n; } int main(int c, char **v) { return helper(c) + !v; }"
    command = ["gcc", "-O0", "-Wl,--build-id=none", "-x", "c", "-", "-o", str(other)]
    subprocess.run(command, input=text, text=True, check=True)
    ran = told("bt", one.core, other)
    check_chain(ran.frames(), one)
    assert "helper" not in ran.out
    assert str(other) in ran.err


def test_the_program_is_gone(tmp_path: Path) -> None:
    other = crash(tmp_path)
    whole = told("bt", other.core, "--past-main").frames()
    other.exe.unlink()
    ran = told("bt", other.core)
    assert str(other.exe) in ran.err
    check_what_is_left(ran.frames(), whole, other)


def test_the_program_is_found_elsewhere(tmp_path: Path) -> None:
    other = crash(tmp_path / "built")
    (tmp_path / "kept").mkdir()
    other.exe.rename(tmp_path / "kept" / "prog")
    ran = told("bt", other.core, "--search", tmp_path / "kept")
    check_chain(ran.frames(), other)
    assert ran.err == ""
    assert (
        str(tmp_path / "kept" / "prog")
        in told("modules", other.core, "--search", tmp_path / "kept").out
    )


def _cuts(core: bytes, stack: int) -> dict[str, int]:
    """Places to cut: in each part, and on the borders between them."""
    note = next(offset for kind, offset, _, _ in segments(core) if kind != PT_LOAD)
    first = next(offset for kind, offset, _, _ in segments(core) if kind == PT_LOAD)
    at_stack = offset_of(core, stack)
    return {
        "magic": 3,
        "ELF header": 33,
        "end of ELF header": 64,
        "program headers": 64 + 56 + 20,
        "end of program headers": note,
        "first note": note + 100,
        "later notes": note + (first - note) // 2,
        "end of notes": first,
        "memory": (first + at_stack) // 2,
        "page before the stack pointer": at_stack - at_stack % 4096,
        "stack pointer": at_stack,
        "in the stack": at_stack + 20,
        "behind the chain": at_stack + 1024,
        "one byte short": len(core) - 1,
    }


CUTS = ("magic", "ELF header", "end of ELF header", "program headers", "end of program headers",
        "first note", "later notes", "end of notes", "memory", "page before the stack pointer",
        "stack pointer", "in the stack", "behind the chain", "one byte short")  # fmt: skip


@pytest.mark.parametrize("cut", CUTS)
def test_truncated_cores(made: Crash, copy: Path, cut: str) -> None:
    """Without registers there is nothing to tell; with them there is always the innermost frame,
    and as much more as there is stack.
    """
    core = notes_first(made.core.read_bytes())
    copy.write_bytes(core)
    whole = told("bt", copy).frames()
    with whocall.open_core(str(copy)) as image:
        stack = image.report().threads[0].sp
    copy.write_bytes(core[: _cuts(core, stack)[cut]])
    if CUTS.index(cut) < CUTS.index("later notes"):
        assert str(copy) in complaint("bt", copy)
        return
    ran = told("bt", copy)
    assert ran.frames()[:1] == whole[:1]
    assert "truncated" in ran.err
    if cut == "in the stack":
        assert ran.frames()[:2] == whole[:2]
    if cut in ("behind the chain", "one byte short"):
        assert ran.frames()[:3] == whole[:3]


@pytest.mark.parametrize("share", [0.001, 0.01, 0.1, 0.5, 0.9])
def test_truncated_cores_of_gdb(made: Crash, copy: Path, share: float) -> None:
    """gdb writes the notes last: all but the whole file is without threads."""
    with copy.open("r+b") as file:
        file.truncate(int(copy.stat().st_size * share))
    assert str(copy) in complaint("bt", copy)
