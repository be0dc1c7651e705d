"""What a crash handler wrote, read: the text, and the record (native/runtime/crash/record.h)."""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass, field

_FRAME = re.compile(r"#(\d+) +0x([0-9a-f]+) (?:(.+)\(\+0x([0-9a-f]+)\)|\?) (\S+) \[([a-z-]+)\]")
_HEADER = struct.Struct("8sBBHHHIIQQIIIiQ")
_MODULE = struct.Struct("QQQHHI")
_THREAD = struct.Struct("II16sIIIIII")
_FRAME_BODY = struct.Struct("QHBBI")
PROGRAM, MODULE, THREAD, STACK, ANNOTATION = 1, 2, 3, 4, 5


@dataclass(frozen=True)
class Frame:
    """A line of a report; `function` is "?" where it is not known."""

    number: int
    address: int
    module: str
    offset: int
    function: str
    trust: str

    @property
    def name(self) -> str:
        """The function without the distance into it."""
        return self.function.partition("+")[0]


@dataclass
class Report:
    """One crash as text."""

    headline: str
    lines: list[str] = field(default_factory=list)
    complete: bool = False

    def frames(self) -> list[Frame]:
        """The frames of the thread that crashed."""
        own = []
        for line in self.lines:
            if line.startswith("end of the stack"):
                break
            found = _FRAME.fullmatch(line)
            if found:
                number, address, module, offset, function, trust = found.groups()
                place = (int(number), int(address, 16), module or "", int(offset or "0", 16))
                own.append(Frame(*place, function, trust))
        return own

    @property
    def names(self) -> list[str]:
        """Of the crashed thread's functions, the innermost first."""
        return [frame.name for frame in self.frames()]

    @property
    def end(self) -> str:
        """Why the crashed thread's stack ends."""
        ends = [line for line in self.lines if line.startswith("end of the stack: ")]
        return ends[0].partition(": ")[2]


def read_reports(text: str) -> list[Report]:
    """All reports in a program's output."""
    found: list[Report] = []
    for line in text.splitlines():
        if line.startswith("whocall: ") and re.search(r"\] (crashed:|goes on,) ", line):
            found.append(Report(line))
        elif line == "whocall: end of the report" and found:
            found[-1].complete = True
        elif found:
            found[-1].lines.append(line)
    return found


@dataclass
class Thread:
    """A thread in a record; frames are (address, module's number, trust, flags)."""

    thread: int
    flags: int
    name: str
    registers: list[int]
    frames: list[tuple[int, int, int, int]]
    all_frames: int
    outermost: int
    end: int


@dataclass
class Record:
    """One record."""

    flags: int
    sequence: int
    process: int
    thread: int
    signal: int
    code: int
    fault_address: int
    program: str = ""
    modules: list[tuple[int, int, int, str, str]] = field(default_factory=list)
    threads: list[Thread] = field(default_factory=list)
    stack: tuple[int, bytes] = (0, b"")
    annotations: dict[str, str] = field(default_factory=dict)


def read_record(data: bytes) -> tuple[Record, int]:
    """The record at the beginning, and its size; ValueError where there is none that is whole."""
    order = {1: "<", 2: ">"}[data[8]]
    header = struct.Struct(order + _HEADER.format)
    (magic, _, width, version, _, flags, size, checksum, sequence, _, *rest) = header.unpack_from(
        data
    )
    if magic != b"WHOCRASH" or version != 1 or width not in (4, 8) or size > len(data):
        raise ValueError("no record")
    if zlib.crc32(data[:20] + bytes(4) + data[24:size]) != checksum:
        raise ValueError("damaged")
    record = Record(flags, sequence, *rest)
    at = header.size
    while at < size:
        kind, length = struct.unpack_from(order + "II", data, at)
        _add(record, order, kind, data[at + 8 : at + 8 + length])
        at += 8 + (length + 7) // 8 * 8
    assert at == size
    return record, size


def _add(record: Record, order: str, kind: int, body: bytes) -> None:
    if kind == PROGRAM:
        record.program = body.decode()
    elif kind == MODULE:
        begin, end, bias, id_size, path_size, _ = struct.unpack_from(order + _MODULE.format, body)
        build_id = body[32 : 32 + id_size]
        path = body[32 + id_size : 32 + id_size + path_size]
        record.modules.append((begin, end, bias, build_id.hex(), path.decode()))
    elif kind == THREAD:
        head = struct.unpack_from(order + _THREAD.format, body)
        thread, flags, name, registers, frames, every, outermost, end, _ = head
        values = struct.unpack_from(f"{order}{registers}Q", body, 48)
        listed = body[48 + 8 * registers :]
        assert len(listed) == 16 * frames
        told = [one[:4] for one in struct.iter_unpack(order + _FRAME_BODY.format, listed)]
        place = (thread, flags, name.rstrip(b"\0").decode(), list(values), told)
        record.threads.append(Thread(*place, every, outermost, end))
    elif kind == STACK:
        record.stack = (struct.unpack_from(order + "Q", body)[0], body[8:])
    elif kind == ANNOTATION:
        key, _, value = body.partition(b"\0")
        record.annotations[key.decode()] = value.decode()


def read_ring(data: bytes) -> list[Record]:
    """The records of a ring, the oldest first."""
    found = []
    for at in range(0, len(data), 512):
        try:
            found.append(read_record(data[at:])[0])
        except (ValueError, KeyError, struct.error):
            continue
    return sorted(found, key=lambda record: record.sequence)
