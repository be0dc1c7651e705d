"""Records: the same frames as the text, whole wherever they are written, and the ring's order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from runtime.lab import LIBRARIES, PRELOAD, build, crash
from runtime.reports import read_record, read_ring

CUT = 1
CRASHED, EXACT = 1, 1


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("cases"), "cases.c", "-O2")


def build_id(path: Path) -> str:
    notes = subprocess.run(["readelf", "-nW", path], capture_output=True, text=True, check=True)
    return notes.stdout.partition("Build ID: ")[2].split()[0]


def test_the_record_tells_what_the_text_tells(cases: Path, tmp_path: Path) -> None:
    path = tmp_path / "%p.record"
    (report,), _, _ = crash(cases, "thread", WHOCALL_CRASH_RECORD=str(path))
    (made,) = tmp_path.iterdir()
    data = made.read_bytes()
    record, size = read_record(data)
    assert size == len(data) < 4096
    assert made.name == f"{record.process}.record"
    assert (record.signal, record.code, record.fault_address) == (signal.SIGSEGV, 1, 16)
    assert (record.program, record.flags, record.sequence) == (str(cases), 0, 1)
    (thread,) = record.threads
    assert (thread.thread, thread.flags, thread.name) == (record.thread, CRASHED, "cases")
    told = [(address, record.modules[module][3:]) for address, module, _, _ in thread.frames]
    assert told[0] == (report.frames()[0].address, (build_id(cases), str(cases)))
    assert [address for address, _ in told] == [frame.address for frame in report.frames()]
    assert [path for _, (_, path) in told] == [frame.module for frame in report.frames()]
    assert [flags for *_, flags in thread.frames] == [EXACT, 0, 0, 0]
    biases = [record.modules[module][2] for _, module, _, _ in thread.frames]
    offsets = [frame.offset for frame in report.frames()]
    assert [a - b for (a, _), b in zip(told, biases)] == offsets
    assert thread.registers[16] == report.frames()[0].address  # rip
    begin, stack = record.stack
    assert begin <= thread.registers[7] < begin + len(stack)
    assert report.frames()[1].address.to_bytes(8, "little") in stack


def test_a_deep_stack_loses_its_middle(cases: Path, tmp_path: Path) -> None:
    path = tmp_path / "ring"
    (report,), _, _ = crash(
        cases, "full_stack", WHOCALL_CRASH_RING=str(path), WHOCALL_CRASH_RING_SIZE="4096"
    )
    (record,) = read_ring(path.read_bytes())
    (thread,) = record.threads
    assert record.flags == 0
    assert thread.all_frames == report.frames()[-1].number + 1
    assert 0 < thread.outermost < len(thread.frames) < thread.all_frames
    addresses = [frame.address for frame in report.frames()]
    listed = [address for address, *_ in thread.frames]
    inner = len(listed) - thread.outermost
    assert listed[:inner] == addresses[:inner]
    assert listed[inner:] == addresses[-thread.outermost :]


def test_a_ring_keeps_the_last(cases: Path, tmp_path: Path) -> None:
    """It survives the processes; the oldest record goes first; damage costs one record."""
    path = tmp_path / "ring"
    processes = []
    for _ in range(6):
        reports, _, _ = crash(
            cases, "plain", WHOCALL_CRASH_RING=str(path), WHOCALL_CRASH_RING_SIZE="16384"
        )
        processes.append(int(reports[0].headline.partition("[")[2].partition("]")[0]))
    data = bytearray(path.read_bytes())
    assert len(data) == 16384
    kept = read_ring(data)
    assert [record.sequence for record in kept] == [3, 4, 5, 6]
    assert [record.process for record in kept] == processes[2:]
    at = 4096 * 1 + 100  # the second slot holds the sixth
    data[at] ^= 1
    assert [record.sequence for record in read_ring(data)] == [3, 4, 5]
    path.write_bytes(data)
    crash(cases, "plain", WHOCALL_CRASH_RING=str(path), WHOCALL_CRASH_RING_SIZE="16384")
    assert [record.sequence for record in read_ring(path.read_bytes())] == [3, 4, 5, 6]


def test_processes_that_crash_at_once_share_a_ring(cases: Path, tmp_path: Path) -> None:
    path = tmp_path / "ring"
    environment = {
        **os.environ,
        "LD_PRELOAD": str(PRELOAD),
        "WHOCALL_CRASH_RING": str(path),
        "WHOCALL_CRASH_RING_SIZE": str(64 * 4096),
        "WHOCALL_CRASH_TEXT": "/dev/null",
    }
    ran = []
    for _ in range(4):
        at_once = [subprocess.Popen([cases, "plain"], env=environment) for _ in range(16)]
        assert [process.wait() for process in at_once] == [-signal.SIGSEGV] * 16
        ran += at_once
    kept = read_ring(path.read_bytes())
    assert sorted(record.process for record in kept) == sorted(process.pid for process in ran)


def test_a_slot_of_somebody_who_died_is_free(cases: Path, tmp_path: Path) -> None:
    path = tmp_path / "ring"
    gone = subprocess.Popen(["true"])
    gone.wait()
    path.write_bytes((gone.pid.to_bytes(4, sys.byteorder) + b"RASH").ljust(4096, b"\1"))
    crash(cases, "plain", WHOCALL_CRASH_RING=str(path), WHOCALL_CRASH_RING_SIZE="4096")
    assert len(read_ring(path.read_bytes())) == 1


def test_a_slot_that_somebody_writes_is_left_alone(cases: Path, tmp_path: Path) -> None:
    """Where there is another; the only one is taken after a second."""
    path = tmp_path / "ring"
    held = (os.getpid().to_bytes(4, sys.byteorder) + b"RASH").ljust(4096, b"\1")
    path.write_bytes(held)
    crash(cases, "plain", WHOCALL_CRASH_RING=str(path), WHOCALL_CRASH_RING_SIZE="8192")
    data = path.read_bytes()
    assert data[:4096] == held and len(read_ring(data)) == 1
    path.write_bytes(held)
    crash(cases, "plain", WHOCALL_CRASH_RING=str(path), WHOCALL_CRASH_RING_SIZE="4096")
    assert len(read_ring(path.read_bytes())) == 1


def test_a_ring_whose_numbers_are_used_up(cases: Path, tmp_path: Path) -> None:
    """Somebody may have written any number there."""
    path = tmp_path / "ring"
    crash(cases, "plain", WHOCALL_CRASH_RING=str(path), WHOCALL_CRASH_RING_SIZE="4096")
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[16:20], sys.byteorder)
    data[20:32] = bytes(4) + b"\xff" * 8
    data[20:24] = zlib.crc32(data[:size]).to_bytes(4, sys.byteorder)
    path.write_bytes(data)
    assert read_ring(data)[0].sequence == 2**64 - 1
    reports, _, _ = crash(
        cases, "plain", WHOCALL_CRASH_RING=str(path), WHOCALL_CRASH_RING_SIZE="4096"
    )
    assert reports[0].complete
    assert read_ring(path.read_bytes())[0].process != read_ring(data)[0].process


def test_a_ring_that_had_slots_of_another_size(tmp_path: Path) -> None:
    """Numbers go on, and the newest record stays."""
    made = build(tmp_path, "installed.c", str(LIBRARIES / "libwhocall.a"))
    path = tmp_path / "ring"
    for size in (*["4096"] * 4, "8192"):
        crash(made, "slots", str(path), size, preload=False)
    assert [record.sequence for record in read_ring(path.read_bytes())] == [3, 4, 5]


def test_a_file_system_that_takes_no_blocks_ahead(cases: Path, tmp_path: Path) -> None:
    """As those of flash memory: the file gets zeros, and what was in it stays."""
    source = "int posix_fallocate(int file, long at, long size) { return 95; }"
    shim = tmp_path / "shim.so"
    command = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", shim]
    subprocess.run(command, input=source, text=True, check=True)
    path = tmp_path / "ring"
    for size in ("8192", "16384"):
        crash(
            cases, "plain", preload=False, LD_PRELOAD=f"{PRELOAD} {shim}",
            WHOCALL_CRASH_RING=str(path), WHOCALL_CRASH_RING_SIZE=size,
        )  # fmt: skip
    data = path.read_bytes()
    assert len(data) == 16384
    assert [record.sequence for record in read_ring(data)] == [1, 2]
    assert path.stat().st_blocks * 512 >= 16384


def test_all_threads(cases: Path, tmp_path: Path) -> None:
    """The other one is on its way into pause(); it tells its own stack, in text and record."""
    path = tmp_path / "record"
    (report,), _, _ = crash(
        cases, "in_malloc", WHOCALL_CRASH_RECORD=str(path), WHOCALL_CRASH_THREADS="all"
    )
    record, _ = read_record(path.read_bytes())
    crashed, other = record.threads
    assert crashed.flags == CRASHED
    assert other.flags == 0
    start = next(at for at, line in enumerate(report.lines) if line.startswith("thread "))
    assert report.lines[start] == f'thread {other.thread} "cases":'
    text = "\n".join(report.lines[start : start + len(other.frames) + 1])
    assert all(name in text for name in ("sleeper+", "start_thread+"))
    assert all(f"{address:#018x}" in text for address, *_ in other.frames)
    assert report.complete


@pytest.mark.parametrize("how", ["memory", "descriptor"])
def test_by_the_library_itself(tmp_path: Path, how: str) -> None:
    """A program with the static library: its own region of memory, or its own file."""
    made = build(tmp_path, "installed.c", str(LIBRARIES / "libwhocall.a"), name=how)
    _, status, output = crash(made, how, str(tmp_path / "out"), preload=False)
    assert status == -signal.SIGSEGV, output
    data = (tmp_path / "out").read_bytes()
    (record,) = read_ring(data) if how == "memory" else [read_record(data)[0]]
    modules = [record.modules[module][4] for _, module, _, _ in record.threads[0].frames]
    assert modules[:2] == [str(made)] * 2
