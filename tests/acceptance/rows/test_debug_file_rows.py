"""Unwind rows that only the separate debug file has: a program built without .eh_frame rows of its
own, as musl's libc is, whose compiler wrote .debug_frame for the debugger.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from acceptance.helpers import name_twins
from acceptance.helpers.stopped_processes import stopped
from whocall import Frame, Search, Walk, open_process, open_symbols

NO_TABLES = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fomit-frame-pointer")
CHAIN = ["depth", "depth", "depth", "depth", "middle", "exported", "main"]


def own_frames(program: Path, debug_directory: Path) -> list[Frame]:
    """The frames in the program itself, of a process that has stopped itself."""
    search = Search(debug_directories=[str(debug_directory)])
    with stopped(program) as pid, open_process(pid, search=search) as image:
        frames = image.report(walk=Walk(explain=True)).threads[0].frames
    return [each for each in frames if each.module == str(program)]


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Stripped; its debug file lies below `debug`."""
    twin = name_twins.build(tmp_path, *NO_TABLES)
    found = name_twins.stripped(twin)
    identity = open_symbols(str(found)).build_id
    name_twins.debug_file(twin, name_twins.build_id_path(tmp_path / "debug", identity))
    return found


def test_rows_come_from_the_debug_file(bare: Path, tmp_path: Path) -> None:
    frames = own_frames(bare, tmp_path / "debug")
    assert [each.function for each in frames[: len(CHAIN)]] == CHAIN
    # What leads from a frame to its caller stands on the caller.
    callers = frames[1 : len(CHAIN)]
    assert [each.trust for each in callers] == ["cfi"] * len(callers)
    assert all(".debug_frame" in (each.explanation or "") for each in callers)


def test_without_it_the_code_has_to_tell(bare: Path, tmp_path: Path) -> None:
    frames = own_frames(bare, tmp_path / "none")
    assert len(frames) >= len(CHAIN)
    assert {each.trust for each in frames[1 : len(CHAIN)]} == {"analysis"}


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """Stripped, with .debug_frame packed into .gnu_debugdata, as Android's libraries for ARM are
    and what its runtime compiles of applications.
    """
    twin = name_twins.build(tmp_path, *NO_TABLES)
    found = name_twins.stripped(twin)
    name_twins.add_section(found, ".gnu_debugdata", name_twins.mini_debug_info(twin, tables=True))
    return found


def test_rows_come_out_of_gnu_debugdata(packed: Path, tmp_path: Path) -> None:
    frames = own_frames(packed, tmp_path / "none")
    assert [each.function for each in frames[: len(CHAIN)]] == CHAIN
    callers = frames[1 : len(CHAIN)]
    assert [each.trust for each in callers] == ["cfi"] * len(callers)
    assert all(".debug_frame" in (each.explanation or "") for each in callers)


def test_damaged_gnu_debugdata_leaves_the_code_to_tell(packed: Path, tmp_path: Path) -> None:
    data = bytearray(packed.read_bytes())
    at = data.rindex(b"\xfd7zXZ")
    data[at + 40 : at + 48] = bytes(8)
    packed.write_bytes(data)
    packed.chmod(0o755)
    frames = own_frames(packed, tmp_path / "none")
    assert len(frames) >= len(CHAIN)
    assert {each.trust for each in frames[1 : len(CHAIN)]} == {"analysis"}
