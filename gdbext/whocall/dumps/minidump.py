"""Reads minidumps that Breakpad, Crashpad and others write on Linux and Android.

Addresses are runtime addresses, offsets and sizes are bytes; places in the file are called RVA, as
in the format's own words. Every count and place is checked against the file's size.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from whocall.core.errors import Error
from whocall.core.records import dataclass
from whocall.dumps.contexts import MACHINES, Machine, registers
from whocall.dumps.crash_signal import Crash, signal_info

_THREADS, _MODULES, _MEMORY, _EXCEPTION, _SYSTEM = 3, 4, 5, 6, 7
_MEMORY64, _MISC, _NAMES = 9, 15, 24
_PROC_STATUS, _COMMAND, _AUXV, _MAPS = 0x47670004, 0x47670006, 0x47670008, 0x47670009
_CRASHPAD = 0x43500001
_SYSTEMS = {0x8201: "Linux", 0x8203: "Android"}
_FOREIGN = {0x8101: "macOS", 0x8102: "iOS", 0x8204: "PlayStation 3", 2: "Windows"}
_REQUESTED = 0xFFFFFFFF  # exception code of a dump that nobody crashed for
_MOST = 1 << 20  # rows of a list
_MOST_THREADS = 1 << 16
_MOST_MODULES = 1 << 16  # as many as Linux lets a process have mappings
_MOST_REGIONS = 1 << 18
_LONGEST = 1 << 13  # bytes of a name: paths have no more characters
_MOST_TEXT = 1 << 26  # bytes of all names: many rows may point at the same ones
_LONGEST_CONTEXT = 1 << 13  # bytes of the registers of a thread
_LAST = (1 << 64) - 1  # address


@dataclass(frozen=True)
class Memory:
    """Bytes of the process that the file holds."""

    address: int
    size: int
    rva: int


@dataclass(frozen=True)
class DumpThread:
    """A thread with what is known of its registers."""

    lwp: int
    name: str
    registers: dict[str, int]


@dataclass(frozen=True)
class DumpModule:
    """A loaded file; the build id is lower-case hex, or empty."""

    begin: int
    end: int
    path: str
    build_id: str


@dataclass(frozen=True)
class Region:
    """A mapping of the process: protections as in PF_*, and of which file, if any."""

    begin: int
    end: int
    flags: int
    offset: int
    path: str


@dataclass(frozen=True)
class Minidump:
    """All that a core can be made of."""

    machine: Machine
    system: str
    writer: str
    threads: list[DumpThread]  # the one that crashed first
    modules: list[DumpModule]  # the program first
    memory: list[Memory]
    regions: list[Region]
    mapped: bool  # the regions are told, all of them
    crash: Crash | None
    auxiliary: bytes
    command: str
    pid: int
    time: int  # seconds since 1970; 0: not told
    remarks: list[str]


class _Reader:
    """The file's bytes, checked; complaints name the file."""

    def __init__(self, data: memoryview, name: str) -> None:
        self.data = data
        self.name = name
        self._text_left = _MOST_TEXT

    def fault(self, reason: str) -> Error:
        return Error(
            f"{self.name} cannot be used as a minidump: {reason}; write it anew",
            path=self.name,
            reason=reason,
        )

    def part(self, rva: int, size: int) -> bytes:
        """Empty where the file does not reach so far."""
        if rva + size > len(self.data):
            return b""
        return bytes(self.data[rva : rva + size])

    def rows(self, rva: int, form: str, size: int, count: int) -> Iterator[tuple[int, ...]]:
        """As many rows of `size` bytes as are there."""
        shape = struct.Struct(form)
        room = max(len(self.data) - rva, 0) // size
        for at in range(min(count, room, _MOST)):
            yield shape.unpack_from(self.data, rva + at * size)

    def text(self, rva: int) -> str:
        """A string of UTF-16 behind its size in bytes."""
        size = min(int.from_bytes(self.part(rva, 4), "little"), _LONGEST, self._text_left)
        self._text_left -= size
        return self.part(rva + 4, size).decode("utf-16-le", "replace")


class _Parser:
    def __init__(self, reader: _Reader) -> None:
        self.reader = reader
        self.streams: dict[int, tuple[int, int]] = {}  # rva and size by type
        self.remarks: list[str] = []

    def find_streams(self) -> None:
        header = self.reader.part(0, 32)
        if len(header) < 32:
            raise self.reader.fault("it is shorter than its header")
        _, _, count, rva, _, time, _ = struct.unpack("<IIIIIIQ", header)
        self.time = time
        for kind, size, place in self.reader.rows(rva, "<III", 12, count):
            if kind and place < len(self.reader.data):
                self.streams.setdefault(kind, (place, size))
        if count == 0 or not self.streams:
            raise self.reader.fault("it has no streams")

    def stream(self, kind: int) -> bytes:
        rva, size = self.streams.get(kind, (0, 0))
        return self.reader.part(rva, min(size, len(self.reader.data) - rva))

    def listed(self, kind: int, form: str, size: int, most: int = _MOST) -> list[tuple[int, ...]]:
        """The rows of a stream that begins with their count; some writers pad that to 8 bytes."""
        if kind not in self.streams:
            return []
        rva, whole = self.streams[kind]
        count = int.from_bytes(self.reader.part(rva, 4), "little")
        padding = 4 if whole == 8 + count * size else 0
        rows = list(self.reader.rows(rva + 4 + padding, form, size, min(count, most)))
        if len(rows) == most and count > most:
            self.remarks.append(f"of {count} rows of a list (stream {kind}) {most} are read")
        elif len(rows) < count:
            self.remarks.append(f"it has {len(rows)} of {count} rows of a list (stream {kind})")
        return rows

    def machine(self) -> Machine:
        info = self.stream(_SYSTEM)
        if len(info) < 32:
            raise self.reader.fault("it does not tell the processor (no system info stream)")
        processor = int.from_bytes(info[:2], "little")
        platform = int.from_bytes(info[20:24], "little")
        self.system = _SYSTEMS.get(platform, "")
        if not self.system:
            other = _FOREIGN.get(platform, f"system {platform:#x}")
            raise Error(
                f"{self.reader.name} is a minidump of {other}: only those of Linux and Android can"
                " be read",
                path=self.reader.name,
            )
        machine = MACHINES.get(processor)
        if machine is None:
            raise Error(
                f"{self.reader.name} is a minidump of a processor that is not supported"
                f" ({processor:#x}): those of x86-64, i386, ARM and AArch64 can be read",
                path=self.reader.name,
            )
        return machine

    def threads(self, machine: Machine) -> list[DumpThread]:
        names = {
            lwp: self.reader.text(low | high << 32)
            for lwp, low, high in self.listed(_NAMES, "<III", 12)
        }
        found = []
        for row in self.listed(_THREADS, "<4I2Q4I", 48, _MOST_THREADS):
            lwp, teb, size, rva = row[0], row[4], row[8], row[9]
            values = registers(self.reader.part(rva, min(size, _LONGEST_CONTEXT)), machine)
            if values is None:
                self.remarks.append(f"the registers of thread {lwp} are not there: it is left out")
                continue
            if machine.thread_pointer:
                values[machine.thread_pointer] = teb
            found.append(DumpThread(lwp, names.get(lwp, ""), values))
        return found

    def crash(self, machine: Machine, threads: list[DumpThread]) -> Crash | None:
        """The thread that crashed is put first, with the registers of the moment of its crash."""
        stream = self.stream(_EXCEPTION)
        if len(stream) < 168:
            return None
        lwp, _, code, flags, _, address, count, first = struct.unpack_from("<IIIIQQI4xQ", stream)
        size, rva = struct.unpack_from("<II", stream, 160)
        at = next((at for at, thread in enumerate(threads) if thread.lwp == lwp), None)
        values = registers(self.reader.part(rva, min(size, _LONGEST_CONTEXT)), machine)
        if values is not None:
            pointer = machine.thread_pointer
            name = ""
            if at is not None:
                values[pointer] = threads[at].registers.get(pointer, 0)
                name = threads.pop(at).name
            threads.insert(0, DumpThread(lwp, name, values))
        elif at is not None:
            threads.insert(0, threads.pop(at))
        if code == _REQUESTED or not 0 < code < 128:
            return None
        # Crashpad keeps a sender's number apart, but where it keeps siginfo's address.
        apart = count and self.writer() == "Crashpad" and not address
        sender = first if apart else address & 0xFFFFFFFF
        return Crash(lwp, code, *signal_info(code, flags, address, sender, self.pid()))

    def pid(self) -> int:
        """Of the process; 0 where it is not told."""
        return _pid(self.stream(_MISC), self.stream(_PROC_STATUS))

    def modules(self) -> list[DumpModule]:
        found = []
        for row in self.listed(_MODULES, "<QIIII52xII24x", 108, _MOST_MODULES):
            begin, size, _, _, name, record_size, record = row
            identity = self.reader.part(record, min(record_size, 4096))
            found.append(
                DumpModule(begin, begin + size, self.reader.text(name), _build_id(identity))
            )
        return [module for module in found if module.begin < module.end <= _LAST]

    def memory(self) -> list[Memory]:
        found = [
            Memory(address, size, rva) for address, size, rva in self.listed(_MEMORY, "<QII", 16)
        ]
        for address, size, rva in self.listed(_THREADS, "<24xQII8x", 48):
            found.append(Memory(address, size, rva))
        if _MEMORY64 in self.streams:
            rva, size = self.streams[_MEMORY64]
            head = self.reader.part(rva, 16)
            count, place = struct.unpack("<QQ", head) if len(head) == 16 else (0, 0)
            for address, size in self.reader.rows(rva + 16, "<QQ", 16, count):
                found.append(Memory(address, size, place))
                place += size
        pieces = map(self._cut, found)
        return [piece for piece in pieces if 0 < piece.size <= _LAST - piece.address]

    def _cut(self, piece: Memory) -> Memory:
        room = max(len(self.reader.data) - piece.rva, 0)
        if piece.size > room:
            self.remarks.append(
                f"the memory at {piece.address:#x} is cut off: {room} of {piece.size} bytes"
            )
            return Memory(piece.address, room, piece.rva)
        return piece

    def writer(self) -> str:
        if _CRASHPAD in self.streams:
            return "Crashpad"
        return "Breakpad" if 0x47670001 in self.streams or _COMMAND in self.streams else ""


def _build_id(record: bytes) -> str:
    """Of a CodeView record: an ELF build id, or what older Breakpads keep of one in 16 bytes."""
    if record[:4] == b"LEpB":
        identity = record[4:]
    elif record[:4] == b"RSDS":
        identity = record[4:20]
    else:
        return ""
    return identity.hex() if any(identity) else ""


def _regions(maps: bytes) -> list[Region]:
    """The lines of /proc/PID/maps."""
    found = []
    for line in maps.decode("utf-8", "surrogateescape").splitlines()[:_MOST_REGIONS]:
        words = line.split(None, 5)
        begin, _, end = words[0].partition("-") if len(words) >= 5 else ("", "", "")
        try:
            flags = sum(bit for bit, letter in ((4, "r"), (2, "w"), (1, "x")) if letter in words[1])
            path = words[5] if len(words) > 5 else ""
            found.append(Region(int(begin, 16), int(end, 16), flags, int(words[2], 16), path))
        except (ValueError, IndexError):
            continue
    return [region for region in found if region.begin < region.end <= _LAST]


def _pid(misc: bytes, status: bytes) -> int:
    if len(misc) >= 12 and misc[4] & 1:
        return int.from_bytes(misc[8:12], "little")
    for line in status.splitlines():
        if line.startswith(b"Pid:"):
            digits = line[4:].strip()
            return int(digits) if digits.isdigit() and len(digits) < 10 else 0
    return 0


def read_minidump(data: memoryview, name: str) -> Minidump:
    """All streams that a core can be made of. Raises Error, where `name` names the file."""
    parser = _Parser(_Reader(data, name))
    parser.find_streams()
    machine = parser.machine()
    threads = parser.threads(machine)
    crash = parser.crash(machine, threads)
    if not threads:
        raise parser.reader.fault("it has no thread whose registers can be read")
    regions = _regions(parser.stream(_MAPS))
    return Minidump(
        machine=machine,
        system=parser.system,
        writer=parser.writer(),
        threads=threads,
        modules=parser.modules(),
        memory=parser.memory(),
        regions=regions,
        mapped=bool(regions),
        crash=crash,
        auxiliary=parser.stream(_AUXV),
        command=parser.stream(_COMMAND)
        .rstrip(b"\0")
        .replace(b"\0", b" ")
        .decode("utf-8", "surrogateescape"),
        pid=parser.pid(),
        time=parser.time,
        remarks=parser.remarks,
    )
