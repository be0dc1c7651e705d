"""Cores of a hundred gigabytes, nearly all of them holes: as soon told as small ones.

What the command line takes in memory is counted, beside the same of the small core.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from acceptance.helpers.broken_files import PT_LOAD, PT_NOTE, Crash, check_chain, told
from acceptance.helpers.peak_memory import peak_of

GIB = 1 << 30
HOLE = 64 * GIB
FREE = 0x100000000000
"""Where nothing of the program lies."""
READ, WRITE, EXECUTE = 4, 2, 1

# More than anything else would explain, and less than a thousandth of a hole.
MORE_KIB = 32 << 10


def _program_headers(core: bytes) -> list[list[int]]:
    (at,), (count,) = struct.unpack_from("<Q", core, 32), struct.unpack_from("<H", core, 56)
    return [list(struct.unpack_from("<IIQQQQQQ", core, at + 56 * i)) for i in range(count)]


def _write(path: Path, core: bytes, headers: list[list[int]], end: int) -> None:
    """The core with other program headers, which come last."""
    with path.open("wb") as file:
        file.write(core)
        file.truncate(end)
        file.seek(end)
        file.write(b"".join(struct.pack("<IIQQQQQQ", *each) for each in headers))
        file.seek(32)
        file.write(struct.pack("<QQ", end, 0))
        file.seek(56)
        file.write(struct.pack("<HHHH", len(headers), 0, 0, 0))


def _with_segments(core: Path, path: Path, flags: int, addresses: list[int]) -> None:
    data = core.read_bytes()
    headers, end = _program_headers(data), len(data) + 4095 & ~4095
    for address in addresses:
        headers.append([PT_LOAD, flags, end, address, 0, HOLE, HOLE, 4096])
        end += HOLE
    _write(path, data, headers, end)


def _above_the_stack(core: Path, path: Path) -> None:
    """The stack's own segment goes on, where searches go."""
    stack = max(
        (each for each in _program_headers(core.read_bytes()) if each[3] < 1 << 47),
        key=lambda each: each[3],
    )
    _with_segments(core, path, READ | WRITE, [stack[3] + stack[6]])


def _notes_in_a_hole(core: Path, path: Path) -> None:
    data = core.read_bytes()
    headers, hole = _program_headers(data), GIB // 2
    at = len(data) + 4095 & ~4095
    headers.append([PT_NOTE, 0, at, 0, 0, hole, 0, 4])
    _write(path, data, headers, at + hole)


FORMS = {
    "data": lambda core, path: _with_segments(core, path, READ | WRITE, [FREE, FREE + HOLE]),
    "code": lambda core, path: _with_segments(core, path, READ | EXECUTE, [FREE, FREE + HOLE]),
    "stack": _above_the_stack,
    "notes": _notes_in_a_hole,
}


@pytest.fixture(params=FORMS)
def huge(made: Crash, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A core with holes."""
    path = tmp_path / "huge.core"
    FORMS[request.param](made.core, path)
    assert path.stat().st_size >= GIB // 2
    assert path.stat().st_blocks * 512 < 16 << 20, "this file system does not keep holes"
    return path


@pytest.mark.parametrize("command", ["bt", "modules"])
def test_a_core_of_holes(made: Crash, huge: Path, command: str) -> None:
    if command == "bt":
        check_chain(told("bt", huge).frames(), made)
    usual = peak_of(command, made.core)
    found = peak_of(command, huge)
    print(f"\n{command}: {usual} KiB, with holes {found}", end="")
    assert found < usual + MORE_KIB


def test_a_search_that_finds_nothing(made: Crash, tmp_path: Path) -> None:
    """Without any other strategy the stack is searched, which then reaches over the whole hole."""
    path = tmp_path / "huge.core"
    _above_the_stack(made.core, path)
    only_scan = ("--without", "cfi,analysis,frame-pointer,call-entry")
    usual = peak_of("bt", *only_scan, made.core)
    assert peak_of("bt", *only_scan, path) < usual + MORE_KIB
