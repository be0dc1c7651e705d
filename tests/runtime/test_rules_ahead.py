"""Rules from a file beside a program that has neither unwind tables nor frame pointers."""

from __future__ import annotations

import os
import random
import shutil
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.ahead import BARE, CHAIN, WHOCALL, Asked, export, names, read, stripped
from runtime.lab import LIBRARIES, build, crash

STATIC = str(LIBRARIES / "libwhocall.a")
CONTEXT, CFI, ANALYSIS = "0", "1", "2"


def ask(program: Path) -> Asked:
    ran = subprocess.run([program, "ask"], capture_output=True, text=True, check=True)
    return read(program, ran.stdout)


def test_frames_by_rules_ahead(tmp_path: Path) -> None:
    program, twin = stripped(tmp_path, STATIC)
    alone = ask(program)
    assert names(twin, alone.own) == CHAIN[:1]
    export(program)
    found = ask(program)
    assert names(twin, found.own) == [*CHAIN, "_start"]
    assert found.trusts[:5] == [CONTEXT, *[ANALYSIS] * 4]
    assert CFI in found.trusts  # of the C library's qsort


def test_a_crash_by_rules_ahead(tmp_path: Path) -> None:
    """Under the preloaded handler, which knows nothing of the file before."""
    program, twin = stripped(tmp_path, STATIC)
    export(program)
    ((report,), status, output) = crash(program)
    assert status == -signal.SIGSEGV, output
    own = [frame.offset for frame in report.frames() if frame.module == str(program)]
    assert names(twin, own) == [*CHAIN, "_start"]
    assert report.end == "the outermost frame"


def test_rules_that_a_compiler_wrote(tmp_path: Path) -> None:
    """Debuggers have them in .debug_frame, and so do files with debug info beside the program."""
    program = build(tmp_path, "no_tables.c", *BARE, "-g", STATIC, name="program")
    twin = Path(shutil.copy(program, tmp_path / "twin"))
    beside = tmp_path / "program.whocall"
    subprocess.run(["objcopy", "--only-keep-debug", twin, beside], check=True)
    subprocess.run(["strip", program], check=True)
    found = ask(program)
    assert names(twin, found.own) == [*CHAIN, "_start"]
    assert found.trusts == [CONTEXT, *[CFI] * (len(found.trusts) - 1)]


def test_rules_of_another_build_are_not_taken(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other, _ = stripped(tmp_path / "other", STATIC, "-O1")
    program, twin = stripped(tmp_path, STATIC)
    shutil.copy(export(other), tmp_path / "program.whocall")
    assert names(twin, ask(program).own) == CHAIN[:1]


def test_a_program_without_a_build_id(tmp_path: Path) -> None:
    """Nothing says that a file belongs to it."""
    program, twin = stripped(tmp_path, STATIC, "-Wl,--build-id=none")
    export(program)
    assert names(twin, ask(program).own) == CHAIN[:1]


def test_rules_that_nobody_would_take(tmp_path: Path) -> None:
    """Who writes them is told so."""
    program, _ = stripped(tmp_path, STATIC, "-Wl,--build-id=none")
    command = [sys.executable, WHOCALL, "export", program, "-o", tmp_path / "written"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "libwhocall does not take it, as the program has no build id" in said


def test_a_fifo_beside_a_program_is_nothing_to_wait_at(tmp_path: Path) -> None:
    """Nobody ever writes to it: neither the handler nor who asks may wait for that."""
    program, twin = stripped(tmp_path, STATIC)
    os.mkfifo(tmp_path / "program.whocall")
    ran = subprocess.run([program, "ask"], capture_output=True, text=True, check=True, timeout=60)
    assert names(twin, read(program, ran.stdout).own) == CHAIN[:1]
    ((report,), status, output) = crash(program)
    assert status == -signal.SIGSEGV, output
    assert report.complete


def _far_frames(size: int) -> bytes:
    """A .debug_frame for all code: frames of that many bytes, the return address at their end."""
    number = bytearray()
    while size >= 0x80:
        number.append(size & 0x7F | 0x80)
        size >>= 7
    rules = b"\x0c\x07" + number + bytes([size]) + b"\x90\x01"  # def_cfa rsp + size; rip: CFA - 8
    common = struct.pack("<IBBBbB", 0xFFFFFFFF, 1, 0, 1, 0x78, 16) + rules
    common += bytes(-len(common) % 8 + 4)
    own = struct.pack("<IQQ4x", 0, 0, 1 << 24)
    return b"".join(struct.pack("<I", len(each)) + each for each in (common, own))


@pytest.mark.parametrize("size", [1 << 16, 1 << 20, 1 << 28, (1 << 31) - 8])
def test_frames_larger_than_the_stack(tmp_path: Path, size: int) -> None:
    """A file that says so is damaged, and what it leads to is read with care."""
    program, twin = stripped(tmp_path, STATIC)
    written = export(program)
    rules = tmp_path / "rules"
    rules.write_bytes(_far_frames(size))
    subprocess.run(["objcopy", "--update-section", f".debug_frame={rules}", written], check=True)
    found = ask(program)
    assert names(twin, found.own) == CHAIN[:1]
    assert found.trusts == [CONTEXT]


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files(tmp_path: Path, seed: int) -> None:
    """A walk may end early; the program never does."""
    program, _ = stripped(tmp_path, STATIC)
    written = export(program)
    whole = written.read_bytes()
    chance = random.Random(seed)
    for _ in range(100):
        damaged = bytearray(whole)
        for _ in range(chance.randrange(1, 40)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        written.write_bytes(
            damaged[: chance.choice([len(damaged), chance.randrange(len(damaged))])]
        )
        ran = subprocess.run([program, "ask"], capture_output=True, text=True, check=False)
        assert ran.returncode in (0, 1), (ran, damaged.hex())
        assert "captured: " in ran.stdout
