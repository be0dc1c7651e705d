"""A core of a program under an emulator that writes none, by what its debugger stub tells.

The stub stops at each signal; what the program is then is copied, and the signal is passed on. The
last copy before its end is the core. Written is what the emulator's own cores of other machines
have: a note of each thread, the auxiliary vector, and all memory.
"""

from __future__ import annotations

import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ports.elf import EXECUTABLE, PT_LOAD, PT_NOTE, Elf

PATIENCE = 60.0
"""Seconds: a guard against a program that does not end."""
EM_RISCV = 243
ET_CORE = 4
NT_PRSTATUS, NT_AUXV = 1, 6
PRSTATUS, REGISTERS_AT, REGISTERS = 376, 112, 256
"""Of struct elf_prstatus and its registers, bytes."""
PAGE = 4096
# Numbers of signals as the protocol has them, where Linux has others.
LINUX_SIGNALS = {10: 7, 30: 10, 31: 12}


class StubError(Exception):
    """The stub said what nobody expects of it, or nothing."""


class Area(NamedTuple):
    """Memory of the program."""

    start: int
    end: int
    flags: int
    contents: bytes


@dataclass(frozen=True)
class Snapshot:
    """The program as it stood at a signal."""

    signal: int
    threads: list[tuple[int, bytes]]
    """Number and registers (pc, x1 to x31) of each, that with the signal first."""
    auxiliary: bytes
    areas: list[Area]


class Stub:
    """The remote protocol of gdb."""

    def __init__(self, path: Path, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._line = socket.socket(socket.AF_UNIX)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self._line.connect(str(path))
                break
            except OSError as error:
                if process.poll() is not None or time.monotonic() > end:
                    raise StubError(f"nobody listens at {path}") from error
                time.sleep(0.005)
        self._line.settimeout(PATIENCE)
        self._rest = b""

    def close(self) -> None:
        """Of our side."""
        self._line.close()

    def ask(self, request: bytes) -> bytes:
        """The answer to a packet."""
        total = sum(request) % 256
        self._line.sendall(b"$" + request + b"#%02x" % total)
        return self._packet()

    def _packet(self) -> bytes:
        while True:
            begin = self._rest.find(b"$")
            end = self._rest.find(b"#", begin)
            if begin >= 0 and end >= 0 and len(self._rest) >= end + 3:
                packet = self._rest[begin + 1 : end]
                self._rest = self._rest[end + 3 :]
                self._line.sendall(b"+")
                return _unescaped(packet)
            more = self._line.recv(1 << 16)
            if not more:
                return b"W00"
            self._rest += more

    def threads(self, first: int) -> list[tuple[int, bytes]]:
        """All of them, that which is named first."""
        numbers, said = [], self.ask(b"qfThreadInfo")
        while said.startswith(b"m"):
            numbers += [int(each, 16) for each in said[1:].split(b",")]
            said = self.ask(b"qsThreadInfo")
        numbers.sort(key=lambda each: each != first)
        return [(number, self._registers(number)) for number in numbers]

    def _registers(self, thread: int) -> bytes:
        if self.ask(b"Hg%x" % thread) != b"OK":
            raise StubError(f"no thread {thread}")
        words = bytes.fromhex(self.ask(b"g").decode())[: REGISTERS + 8]
        return words[REGISTERS:] + words[8:REGISTERS]

    def auxiliary(self) -> bytes:
        """The vector."""
        said = self.ask(b"qXfer:auxv:read::0,1000")
        return said[1:]

    def is_there(self, address: int) -> bool:
        """Whether the program, and not the emulator alone, has memory there."""
        return len(self.ask(b"m%x,1" % address)) == 2

    def memory(self) -> Iterator[Area]:
        """All of the program's, which the emulator has at the same addresses."""
        pid = self._process.pid
        with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as file:
            for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
                where, rights, offset, _, _, *path = line.split()
                start, end = (int(each, 16) for each in where.split("-"))
                if "r" in rights and self.is_there(start):
                    file.seek(start)
                    code = "w" not in rights and _is_code(path, int(offset, 16))
                    flags = 4 | 2 * ("w" in rights) | code
                    yield Area(start, end, flags, file.read(end - start))


def _unescaped(packet: bytes) -> bytes:
    """Of `}` and what is run-length encoded."""
    out, at = bytearray(), 0
    while at < len(packet):
        if packet[at] == ord("}"):
            out.append(packet[at + 1] ^ 0x20)
            at += 2
        elif packet[at] == ord("*"):
            out += bytes([out[-1]]) * (packet[at + 1] - 29)
            at += 2
        else:
            out.append(packet[at])
            at += 1
    return bytes(out)


def _is_code(path: Sequence[str], offset: int) -> bool:
    """Whether the program may execute it: the emulator, which translates it, maps no code so. What
    is no file's is the page of the signal's trampoline.
    """
    if not path or not Path(path[0]).is_file():
        return True
    return any(
        segment.kind == PT_LOAD
        and segment.flags & EXECUTABLE
        and segment.offset // PAGE * PAGE <= offset < segment.offset + segment.file_size
        for segment in Elf(Path(path[0])).segments
    )


def _stopped_thread(said: bytes) -> int:
    fields = dict(each.split(b":", 1) for each in said[3:].split(b";") if b":" in each)
    return int(fields.get(b"thread", b"0").split(b".")[-1], 16)


GoOn = Callable[[Stub, bytes], bytes]
"""Lets the program go on by a packet until it has a signal of its own, and returns what is said."""


def _snapshots(stub: Stub, go_on: GoOn) -> Iterator[Snapshot]:
    """One at each signal until the program ends."""
    said = go_on(stub, b"c")
    while said[:1] in (b"T", b"S"):
        number = int(said[1:3], 16)
        yield Snapshot(
            LINUX_SIGNALS.get(number, number),
            stub.threads(_stopped_thread(said)),
            stub.auxiliary(),
            list(stub.memory()),
        )
        said = go_on(stub, b"C%02x" % number)


def _notes(of: Snapshot) -> bytes:
    out = b""
    for number, registers in of.threads:
        status = bytearray(PRSTATUS)
        struct.pack_into("<i8xH", status, 0, of.signal, of.signal)
        struct.pack_into("<i", status, 32, number)
        status[REGISTERS_AT : REGISTERS_AT + REGISTERS] = registers
        out += _note(NT_PRSTATUS, bytes(status))
    return out + _note(NT_AUXV, of.auxiliary)


def _note(kind: int, contents: bytes) -> bytes:
    head = struct.pack("<III8s", 5, len(contents), kind, b"CORE")
    return head + contents + bytes(-len(contents) % 4)


def _write(of: Snapshot, path: Path) -> None:
    notes = _notes(of)
    at = 64 + 56 * (1 + len(of.areas))
    headers = struct.pack("<IIQQQQQQ", PT_NOTE, 0, at, 0, 0, len(notes), 0, 4)
    first = -(-(at + len(notes)) // PAGE) * PAGE
    place = first
    for area in of.areas:
        size = area.end - area.start
        headers += struct.pack(
            "<IIQQQQQQ", PT_LOAD, area.flags, place, area.start, 0, size, size, PAGE
        )
        place += size
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    head = struct.pack(
        "<16sHHIQQQIHHHHHH", ident, ET_CORE, EM_RISCV, 1, 0, 64, 0, 5, 64, 56, 1 + len(of.areas),
        0, 0, 0,
    )  # fmt: skip
    with path.open("wb") as file:
        file.write(head + headers + notes)
        file.seek(first)
        for area in of.areas:
            file.write(area.contents)


def crash(
    command: Sequence[str], socket_option: str, core: Path, go_on: GoOn = Stub.ask, **how: object
) -> None:
    """Runs an emulator's command until the program dies, and writes its core.

    `socket_option`: what comes before the stub's socket; `go_on` may stop the program on its way.
    Raises StubError where there was no signal.
    """
    path = core.with_suffix(".socket")
    emulator, *rest = command
    with subprocess.Popen(
        [emulator, socket_option, str(path), *rest],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how,  # type: ignore[call-overload]
    ) as process:  # fmt: skip
        try:
            stub = Stub(path, process)
            last = None
            for snapshot in _snapshots(stub, go_on):
                last = snapshot
            stub.close()
        finally:
            process.kill()
            path.unlink(missing_ok=True)
    if last is None:
        raise StubError("no signal came")
    _write(last, core)
