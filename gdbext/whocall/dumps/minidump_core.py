"""Makes a core of a minidump, which whocall's engine and gdb read as any other."""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from typing import BinaryIO

from whocall.core.errors import Error
from whocall.core.records import replace
from whocall.core.signals import signal_name
from whocall.dumps import sparse
from whocall.dumps.contexts import prstatus
from whocall.dumps.core_writer import (
    NT_AUXV,
    NT_PRSTATUS,
    Segment,
    file_note,
    module_note,
    note,
    process_note,
    segments_of,
    signal_note,
    write_core,
)
from whocall.dumps.library_places import with_places
from whocall.dumps.minidump import Minidump, read_minidump


def _program_name(dump: Minidump) -> str:
    if dump.modules:
        return dump.modules[0].path.rpartition("/")[2]
    return dump.command.partition(" ")[0].rpartition("/")[2]


def notes_of(dump: Minidump) -> bytes:
    """In the kernel's order: the thread that crashed first, and behind it what is the process's."""
    signal = dump.crash.signal if dump.crash else 0
    command = dump.command or (dump.modules[0].path if dump.modules else "")
    parts = []
    for at, thread in enumerate(dump.threads):
        status = prstatus(dump.machine, thread.lwp, signal if at == 0 else 0, thread.registers)
        parts.append(note("CORE", NT_PRSTATUS, status))
        if at == 0:
            pid = dump.pid or thread.lwp
            parts.append(process_note(dump.machine, pid, _program_name(dump), command))
            if dump.crash:
                parts.append(signal_note(dump.machine, signal, dump.crash.code, dump.crash.address))
            if dump.auxiliary:
                parts.append(note("CORE", NT_AUXV, dump.auxiliary))
            parts.append(file_note(dump.machine, dump.regions))
            parts.append(module_note(dump.modules))
    return b"".join(parts)


def _held(segments: Iterable[Segment]) -> int:
    return sum(segment.held for segment in segments)


def amount(size: int) -> str:
    """`8.5 KB`."""
    return f"{size / (1 << 20):.1f} MB" if size >= 1 << 20 else f"{size / (1 << 10):.1f} KB"


def _remarks(dump: Minidump, name: str, held: int) -> list[str]:
    told = [
        f"{name} is a minidump with {amount(held)} of the process's memory: what else a walk would"
        " read is missing, so frames may be."
    ]
    return told + [f"{name} is damaged: {remark}." for remark in dump.remarks[:5]]


def fields_of(dump: Minidump) -> dict[str, str]:
    """What the file tells of the crash, in the words that stores of crashes have for it."""
    found = {"writer": dump.writer, "system": dump.system, "command": dump.command}
    if dump.pid:
        found["pid"] = str(dump.pid)
    if dump.modules:
        found["exe"] = dump.modules[0].path
    if dump.crash:
        found["signal"] = str(dump.crash.signal)
        found["signal_name"] = signal_name(dump.machine.name, dump.crash.signal) or ""
    if dump.time:
        found["time"] = str(dump.time)
    return {key: value for key, value in found.items() if value}


def convert(
    file: BinaryIO, name: str, sysroot: str = ""
) -> tuple[BinaryIO, dict[str, str], list[str]]:
    """The core in a temporary file, what is known of the crash, what is missing. Raises Error."""
    try:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        with mapped, memoryview(mapped) as data:
            return _converted(data, name, sysroot)
    except (ValueError, OSError) as error:
        raise Error(f"{name} cannot be read: {error}", path=name) from error


def _converted(
    data: memoryview, name: str, sysroot: str
) -> tuple[BinaryIO, dict[str, str], list[str]]:
    dump = read_minidump(data, name)
    dump = replace(dump, modules=with_places(dump.modules, sysroot))
    segments = segments_of(dump.memory, dump.regions)
    out = sparse.temporary()
    write_core(out, dump.machine, notes_of(dump), segments, data)
    return out, fields_of(dump), _remarks(dump, name, _held(segments))
