"""A program that gdb controls, local or remote, as a process image: gdb is asked for registers,
memory and the list of loaded files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

import gdb

from whocall.base.errors import Error
from whocall.base.native_errors import native_errors
from whocall.base.native_module import native
from whocall.base.process_image import ProcessImage
from whocall.base.records import dataclass, replace
from whocall.gdb.host import console, settings
from whocall.gdb.target.auxiliary_vector import AT_SYSINFO_EHDR, auxiliary_vector
from whocall.gdb.target.connections import connection_of
from whocall.gdb.target.executable import executable
from whocall.gdb.target.frames import byte_order, selection_kept
from whocall.gdb.target.snapshot_validator import SnapshotValidator

PAGE = 4096

MappingTuple = tuple[int, int, str, int, str]
ThreadTuple = tuple[int, int, str, int, dict[str, int]]
SignalTuple = tuple[int, int, int]


@dataclass(frozen=True)
class LiveImage:
    """The image, and what tells whether it still holds."""

    image: ProcessImage
    validator: SnapshotValidator


def memory_reader(inferior: gdb.Inferior) -> Callable[[int, int], bytes]:
    """Reads up to `size` bytes, up to the first page that cannot be read.

    gdb refuses a read as a whole when its last byte lies beyond a mapping.
    """

    def try_read(address: int, size: int) -> bytes:
        try:
            return bytes(inferior.read_memory(address, size))
        except (gdb.error, OverflowError, ValueError):
            return b""

    def read(address: int, size: int) -> bytes:
        whole = try_read(address, size)
        if whole or size <= 0:
            return whole
        pieces = []
        while size > 0:
            step = min(size, PAGE - address % PAGE)
            piece = try_read(address, step)
            if not piece:
                break
            pieces.append(piece)
            address, size = address + step, size - step
        return b"".join(pieces)

    return read


# gdb 13 counts them among none: where x86-64's threads have their variables, and the number of the
# system call in which a thread waits.
_OTHERS = ("fs_base", "orig_rax", "orig_eax")


def _registers(frame: gdb.Frame) -> dict[str, int]:
    values: dict[str, int] = {}
    general = [register.name for register in frame.architecture().registers("general")]
    for name in dict.fromkeys([*general, *_OTHERS]):
        try:
            value = int(frame.read_register(name))
        except (gdb.error, ValueError):
            continue  # not available, or no integer; or there is no such register
        values[name] = value & 0xFFFFFFFFFFFFFFFF
    return values


def _signal() -> int:
    try:
        siginfo = gdb.convenience_variable("_siginfo")  # no expression: those follow the language
        return 0 if siginfo is None else int(siginfo["si_signo"])
    except gdb.error:
        return 0  # the target has no siginfo, or the thread took no signal


def states(threads: Sequence[gdb.InferiorThread]) -> dict[int, ThreadTuple]:
    """Number, LWP, name, signal, registers of those that are stopped, by gdb's number."""
    found: dict[int, ThreadTuple] = {}
    with selection_kept():
        for thread in threads:
            if not thread.is_valid() or thread.is_running():
                continue
            thread.switch()
            pid, lwp, _ = thread.ptid
            registers = _registers(gdb.newest_frame())
            found[thread.num] = (thread.num, lwp or pid, thread.name or "", _signal(), registers)
    return found


def signal_words(thread: gdb.InferiorThread) -> SignalTuple | None:
    """What the kernel tells of the signal that a thread took beside its number: si_code, and the
    address of the fault or the process that sent it.
    """
    with selection_kept():
        thread.switch()
        try:
            siginfo = gdb.convenience_variable("_siginfo")
            parts = siginfo["_sifields"]
            address = int(parts["_sigfault"]["si_addr"]) & 0xFFFFFFFFFFFFFFFF
            return int(siginfo["si_code"]), address, int(parts["_kill"]["si_pid"]) & 0xFFFFFFFF
        except (gdb.error, TypeError):
            return None  # the target has none, or not all of it


def _is_local(inferior: gdb.Inferior) -> bool:
    connection = connection_of(inferior)
    return connection is not None and connection.kind == "native"


def _mapping(line: str) -> MappingTuple | None:
    """A line of /proc/PID/maps."""
    fields = line.split(maxsplit=5)
    if len(fields) < 5 or "-" not in fields[0]:
        return None
    begin, end = (int(part, 16) for part in fields[0].split("-"))
    path = fields[5].strip() if len(fields) > 5 else ""
    return begin, end, fields[1][:3], int(fields[2], 16), path


def _mapping_of_line(line: str) -> MappingTuple | None:
    """A line of `info proc mappings`; gdbs before 12 show no permissions."""
    match = re.match(
        r"\s*(0x[0-9a-f]+)\s+(0x[0-9a-f]+)\s+0x[0-9a-f]+\s+(0x[0-9a-f]+)"
        r"(?:\s+([r-][w-][x-])[ps-]?)?(?:\s+(\S.*))?\s*$",
        line,
    )
    if match is None:
        return None
    begin, end, offset = (int(match.group(at), 16) for at in (1, 2, 3))
    return begin, end, match.group(4) or "r-x", offset, match.group(5) or ""


def mappings_of(inferior: gdb.Inferior) -> list[MappingTuple]:
    """The memory map; empty when the target does not tell."""
    lines: list[str]
    parse = _mapping_of_line
    try:
        if _is_local(inferior):
            parse = _mapping
            lines = Path(f"/proc/{inferior.pid}/maps").read_text(errors="replace").splitlines()
        else:
            lines = console.said("info proc mappings").splitlines()
    except (gdb.error, OSError):
        return []
    found = [mapping for mapping in map(parse, lines) if mapping is not None]
    # One page of the kernel's, which no core has, no debugger reads, and no file is behind.
    return [mapping for mapping in found if mapping[4] != "[vsyscall]"]


def _resolved(path: str, local: bool) -> str:
    """Where gdb found the file that the target calls `path`."""
    if local:
        return path
    name = PurePosixPath(path).name
    known = [objfile.filename for objfile in gdb.objfiles() if objfile.filename]
    for candidate in known:
        if candidate == path or candidate.endswith(path):
            return candidate
    return next((file for file in known if PurePosixPath(file).name == name), path)


def _architecture() -> str:
    """Our name for that of the selected thread; raises Error when it is not known.

    gdb's name for it may leave the byte order and the ABI open ("mips:isa64r2"): the type of a
    general register tells both (the pc's would be a pointer's).
    """
    frame = gdb.newest_frame()
    name = frame.architecture().name()
    first = next(iter(frame.architecture().registers("general")))
    register = frame.read_register(first.name).type
    register_size, pointer_size = register.sizeof, register.pointer().sizeof
    order = byte_order()
    arch = native.architecture_of_gdb(name, order == "big", pointer_size, register_size)
    if arch is None:
        known = ", ".join(native.architectures())
        raise Error(
            f"whocall does not know the architecture {name} ({8 * pointer_size} bits, {order} "
            f"endian); it knows {known}."
        )
    return arch


def _signature_bits() -> int:
    """Of a code pointer; 0 where the machine signs none, or the target does not tell."""
    try:
        return int(gdb.newest_frame().read_register("pauth_cmask")) & 0xFFFFFFFFFFFFFFFF
    except (gdb.error, ValueError):
        return 0


def open_inferior(inferior: gdb.Inferior, threads: Sequence[gdb.InferiorThread]) -> LiveImage:
    """The image with the given threads; raises Error when the architecture is not known."""
    arch = _architecture()
    found = states(threads)
    validator = SnapshotValidator(memory_reader(inferior), found)
    vector = auxiliary_vector()
    exe = executable(inferior)
    local = _is_local(inferior)
    search = settings.search()
    with native_errors():
        loaded = native.loaded_files(arch, vector, validator.read, exe)
        process = native.open_inferior(
            arch,
            inferior.pid,
            list(found.values()),
            [(*mapping[:4], os.fsencode(mapping[4])) for mapping in mappings_of(inferior)],
            [
                (os.fsencode(exe if is_program else _resolved(path, local)), bias, is_program)
                for path, bias, is_program in loaded
                if path
            ],
            vector.get(AT_SYSINFO_EHDR),
            validator.read,
            (replace(search, sysroot="") if local else search).native(exe),
            is_local=local,
            signature_bits=_signature_bits(),
            signal_info={
                each.num: words
                for each in threads
                if each.num in found and found[each.num][3] != 0
                for words in [signal_words(each)]
                if words is not None
            },
        )
    return LiveImage(ProcessImage(process), validator)
