"""Minidumps of the process in a core of x86-64, as Breakpad and Crashpad write them.

They hold each thread's stack and some bytes around its program counter. The layouts are stated here
once more, each as the format's headers have it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

import whocall
from whocall.base.process_image import ProcessImage

THREADS, MODULES, MEMORY, EXCEPTION, SYSTEM, MISC, NAMES = 3, 4, 5, 6, 7, 15, 24
MAPS, CRASHPAD = 0x47670009, 0x43500001
AROUND = 128  # bytes in front of a program counter and behind it
_STACK = 1 << 16  # bytes that are kept of each
_GENERAL = (
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15", "rip",
)  # fmt: skip


@dataclass(frozen=True)
class Form:
    """What a writer keeps."""

    maps: bool = True  # /proc/PID/maps, as Breakpad
    code: bool = True  # bytes around program counters
    flags: bool = True  # si_code
    sent: int = 0  # of Crashpad's, where not 0: the sender's number
    name: str = ""  # of each thread
    without: tuple[str, ...] = ()  # modules whose paths hold this are left out


@dataclass
class _File:
    data: bytearray = field(default_factory=bytearray)

    def put(self, part: bytes) -> int:
        """Its place in the file."""
        self.data += bytes(-len(self.data) % 8)
        place = len(self.data)
        self.data += part
        return place

    def text(self, words: str) -> int:
        """A string of UTF-16."""
        raw = words.encode("utf-16-le")
        return self.put(struct.pack("<I", len(raw)) + raw + b"\0\0")


def context_of(registers: dict[str, int]) -> bytes:
    """CONTEXT of AMD64."""
    segments = [registers.get(name, 0) for name in ("cs", "ds", "es", "fs", "gs", "ss")]
    head = bytes(48) + struct.pack("<II", 0x10001F, 0)
    head += struct.pack("<6HI", *segments, registers.get("eflags", 0) & 0xFFFFFFFF) + bytes(48)
    return (head + struct.pack("<17Q", *(registers[name] for name in _GENERAL))).ljust(1232, b"\0")


def _modules(file: _File, image: ProcessImage, form: Form) -> bytes:
    ordered = sorted(image.modules, key=lambda module: not module.is_executable)
    rows = []
    for module in ordered:
        if module.path == "[vdso]" or any(word in module.path for word in form.without):
            continue
        identity = bytes.fromhex(module.build_id_in_memory or module.build_id_on_disk or "")
        record = b"LEpB" + identity
        head = struct.pack("<QIIII", module.begin, module.end - module.begin, 0, 0,
                           file.text(module.path))  # fmt: skip
        rows.append(head + bytes(52) + struct.pack("<II", len(record), file.put(record)))
        rows[-1] += bytes(24)
    return struct.pack("<I", len(rows)) + b"".join(rows)


def _maps(image: ProcessImage) -> bytes:
    lines = [
        f"{each.begin:x}-{each.end:x} {each.permissions}p {each.offset:08x} 00:00 0 {each.path}\n"
        for each in image.native.mappings
    ]
    return "".join(lines).encode()


def _exception(image: ProcessImage, crashed: int, form: Form, context: int) -> bytes:
    thread = image.threads[crashed]
    code, address, _ = thread.signal_info or (0, 0, 0)
    count = 3 if form.sent else 0
    address = 0 if form.sent else address or 0
    head = struct.pack("<IIIIQQII", thread.lwp, 0, thread.signal,
                       (code or 0) & 0xFFFFFFFF if form.flags else 0, 0, address, count,
                       0)  # fmt: skip
    record = (head + struct.pack("<Q", form.sent)).ljust(160, b"\0")
    return record + struct.pack("<II", 1232, context)


AS_BREAKPAD = Form()


def made(core: Path | str, place: Path, form: Form = AS_BREAKPAD, exe: str = "") -> Path:
    """The minidump of the core's process, written to `place`."""
    with whocall.open_core(str(core), exe) as image:
        place.write_bytes(_file_of(image, form))
    return place


def _file_of(image: ProcessImage, form: Form) -> bytes:
    file = _File(bytearray(32 + 12 * 8))
    crashed = image.index_of_crash()
    pieces: list[tuple[int, int, int]] = []
    threads, contexts = [], []
    for thread in image.threads:
        stack = image.read(thread.sp, _STACK)
        at = file.put(stack)
        contexts.append(file.put(context_of(thread.registers)))
        threads.append(
            struct.pack("<IIIIQQIIII", thread.lwp, 0, 0, 0, thread.registers.get("fs_base", 0),
                        thread.sp, len(stack), at, 1232, contexts[-1])
        )  # fmt: skip
        pieces.append((thread.sp, len(stack), at))
        begin = max(thread.pc - AROUND, 0)
        code = image.read(begin, 2 * AROUND) if form.code else b""
        if code and not any(known <= begin < known + size for known, size, _ in pieces):
            pieces.append((begin, len(code), file.put(code)))
    names = [
        struct.pack("<IQ", thread.lwp, file.text(form.name))
        for thread in image.threads
        if form.name
    ]
    system = struct.pack("<HHHBBIIIIIHH", 9, 0, 0, 1, 0, 0, 0, 0, 0x8201, file.text(""), 0, 0)
    streams = {
        THREADS: struct.pack("<I", len(threads)) + b"".join(threads),
        MODULES: _modules(file, image, form),
        MEMORY: struct.pack("<I", len(pieces))
        + b"".join(struct.pack("<QII", *piece) for piece in pieces),
        EXCEPTION: _exception(image, crashed, form, contexts[crashed]),
        SYSTEM: system.ljust(56, b"\0"),
        MISC: struct.pack("<III", 24, 1, image.native.pid) + bytes(12),
        NAMES: struct.pack("<I", len(names)) + b"".join(names),
        MAPS if form.maps else CRASHPAD: _maps(image) if form.maps else struct.pack("<I", 1) * 13,
    }
    rows = [struct.pack("<III", kind, len(part), file.put(part)) for kind, part in streams.items()]
    file.data[:32] = struct.pack("<4sIIIIIQ", b"MDMP", 0xA793, len(rows), 32, 0, 1, 0)
    file.data[32 : 32 + 12 * len(rows)] = b"".join(rows)
    return bytes(file.data)
