"""The compact record of a crash that libwhocall writes: reads and checks it.

native/runtime/crash/record.h describes the layout: a header of 64 bytes with a checksum, and
sections behind it. Nothing in a record is taken on trust; whatever is wrong ends in a sentence.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from whocall.base.errors import Error
from whocall.base.records import dataclass

MAGIC = b"WHOCRASH"
VERSION = 1
SLOT_UNIT = 512  # bytes
_HEADER = 64  # bytes
_CHECKSUM_AT = 20
NO_MODULE = 0xFFFF
_MOST_DAMAGES = 8  # that are told one by one
_MOST_SUMS = 16  # checksums over each byte: slots that all claim to be long would take hours
CUT = 1  # there was not room for all
REPORTER_CRASHED = 2  # the reporter crashed itself
QUESTION = 4  # nothing crashed: a signal asked where the process stands
_PROGRAM, _MODULE, _THREAD, _ANNOTATION, _SENDER = 1, 2, 3, 5, 6


@dataclass(frozen=True)
class LoadedModule:
    """A file that frames lie in."""

    begin: int  # runtime addresses, half-open
    end: int
    bias: int  # runtime address minus link address
    build_id: str  # hex; "" without one
    path: str


@dataclass(frozen=True)
class RecordedFrame:
    """One frame of a stack."""

    address: int  # at run time; of a caller the return address
    module: int  # index of a LoadedModule, or NO_MODULE
    trust: int  # index in TRUST of record_text.py
    interrupted: bool


@dataclass(frozen=True)
class RecordedThread:
    """One thread: its registers in the order of the machine's, and its frames, innermost first."""

    lwp: int
    name: str
    crashed: bool
    silent: bool
    registers: tuple[int, ...]
    frames: tuple[RecordedFrame, ...]
    all_frames: int
    outermost: int  # how many of the frames lie behind the gap
    end: int  # why the walk ended


@dataclass(frozen=True)
class Record:
    """One crash."""

    sequence: int
    machine: int  # e_machine of ELF
    address_size: int  # bytes
    big_endian: bool
    flags: int
    time: int  # nanoseconds since 1970
    process: int
    thread: int
    signal: int
    code: int
    fault_address: int
    program: str
    modules: tuple[LoadedModule, ...]
    threads: tuple[RecordedThread, ...]
    annotations: tuple[tuple[str, str], ...] = ()  # what the program said of itself: key, value
    sender: int | None = None  # the process that sent the signal, where one did and it is told


class _DamageError(Exception):
    """What is wrong with a record; str() goes behind "the record at byte N"."""


def _path(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _header_order(data: bytes, at: int) -> str:
    marks = {1: "<", 2: ">"}
    if len(data) - at < _HEADER:
        raise _DamageError("ends before its header does")
    order = marks.get(data[at + 8])
    if order is None:
        raise _DamageError("is damaged: it names no byte order")
    return order


def _size_of(data: bytes, at: int) -> tuple[str, int]:
    """The byte order of a record and its size, which the data has room for."""
    order = _header_order(data, at)
    version, size = struct.unpack_from(order + "10xH4xI", data, at)
    if version > VERSION:
        raise _DamageError(
            f"is of version {version}, and this whocall reads version {VERSION}: take a newer one"
        )
    if version < 1 or not _HEADER <= size <= len(data) - at or size % 8:
        raise _DamageError("is damaged: its size cannot be right, or its end is missing")
    return order, size


def _checked(data: bytes, at: int, order: str, size: int) -> bytes:
    """The whole record."""
    (checksum,) = struct.unpack_from(order + "I", data, at + _CHECKSUM_AT)
    whole = bytearray(data[at : at + size])
    whole[_CHECKSUM_AT : _CHECKSUM_AT + 4] = bytes(4)
    if zlib.crc32(whole) != checksum:
        raise _DamageError("is damaged: its checksum is wrong")
    return bytes(whole)


def _sections(order: str, body: bytes) -> Iterator[tuple[int, bytes]]:
    at = _HEADER
    while at + 8 <= len(body):
        kind, size = struct.unpack_from(order + "II", body, at)
        if size > len(body) - at - 8:
            raise _DamageError("is damaged: a section is longer than the record")
        yield kind, body[at + 8 : at + 8 + size]
        at += 8 + (size + 7) // 8 * 8


def _module(order: str, body: bytes) -> LoadedModule:
    begin, end, bias, id_size, path_size = struct.unpack_from(order + "QQQHH", body)
    if 32 + id_size + path_size > len(body):
        raise _DamageError("is damaged: a module's path is longer than its section")
    path = 32 + id_size
    return LoadedModule(begin, end, bias, body[32:path].hex(), _path(body[path : path + path_size]))


def _thread(order: str, body: bytes) -> RecordedThread:
    lwp, flags, name, registers, frames, all_frames, outermost, end = struct.unpack_from(
        order + "II16sIIIII", body
    )
    behind = 48 + 8 * registers
    if behind + 16 * frames > len(body):
        raise _DamageError("is damaged: a thread has more frames than fit into its section")
    values = struct.unpack_from(f"{order}{registers}Q", body, 48)
    rows = [struct.unpack_from(order + "QHBB", body, behind + 16 * at) for at in range(frames)]
    return RecordedThread(
        lwp=lwp,
        name=_path(name.split(b"\0")[0]),
        crashed=bool(flags & 1),
        silent=bool(flags & 2),
        registers=values,
        frames=tuple(
            RecordedFrame(address, module, trust, bool(bits & 1))
            for address, module, trust, bits in rows
        ),
        all_frames=all_frames,
        outermost=min(outermost, frames),
        end=end,
    )


def _parsed(order: str, body: bytes) -> Record:
    machine, flags = struct.unpack_from(order + "HH", body, 12)
    rest = struct.unpack_from(order + "QQIIIiQ", body, 24)
    program = ""
    modules = []
    threads = []
    annotations = []
    sender = None
    try:
        for kind, section in _sections(order, body):
            if kind == _PROGRAM:
                program = _path(section)
            elif kind == _MODULE:
                modules.append(_module(order, section))
            elif kind == _THREAD:
                threads.append(_thread(order, section))
            elif kind == _ANNOTATION:
                key, _, value = section.partition(b"\0")
                annotations.append((_path(key), _path(value)))
            elif kind == _SENDER:
                sender, _ = struct.unpack_from(order + "II", section)
    except struct.error:
        raise _DamageError("is damaged: a section is too short") from None
    sequence, time, process, thread, signal, code, fault_address = rest
    return Record(
        sequence=sequence,
        machine=machine,
        address_size=8 if body[9] == 8 else 4,
        big_endian=order == ">",
        flags=flags,
        time=time,
        process=process,
        thread=thread,
        signal=signal,
        code=code,
        fault_address=fault_address,
        program=program,
        modules=tuple(modules),
        threads=tuple(threads),
        annotations=tuple(annotations),
        sender=sender,
    )


def looks_like_records(head: bytes) -> bool:
    """Whether a file that begins so may hold records: a ring may begin with slots never written."""
    if head.startswith(MAGIC):
        return True
    starts = range(0, len(head), SLOT_UNIT)
    return head[:SLOT_UNIT] == bytes(SLOT_UNIT) and (
        any(head[at : at + 8] == MAGIC for at in starts) or not head.strip(b"\0")
    )


def _told(damages: list[tuple[int, str]], path: str) -> list[str]:
    """Sentences on the damaged records, of many on the first ones."""
    said = [f"{path}: the record at byte {at} {what}" for at, what in damages[:_MOST_DAMAGES]]
    if len(damages) > _MOST_DAMAGES:
        said.append(f"{path}: {len(damages) - _MOST_DAMAGES:,} more records are damaged")
    return said


def read_records(data: bytes, path: str) -> tuple[list[Record], list[str]]:
    """The records of a file or a ring, oldest first, and sentences on those that are damaged.

    Raises Error where none is whole.
    """
    found = []
    damages = []
    at = 0
    left = _MOST_SUMS * len(data)  # bytes that may still be summed up
    while at < len(data):
        if data[at : at + len(MAGIC)] != MAGIC:
            at = (at // SLOT_UNIT + 1) * SLOT_UNIT
            continue
        try:
            order, size = _size_of(data, at)
            left -= size
            if left < 0:
                damages.append((at, "and all behind it are not read: too many claim to be long"))
                break
            found.append(_parsed(order, _checked(data, at, order, size)))
            at += size
        except _DamageError as damage:
            damages.append((at, str(damage)))
            at = (at // SLOT_UNIT + 1) * SLOT_UNIT
    said = _told(damages, path)
    if not found:
        raise Error(
            said[0]
            if said
            else f"{path}: there is no record in it, only slots that were never written"
        )
    return sorted(found, key=lambda record: (record.sequence, record.time)), said
