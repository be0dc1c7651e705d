"""Makes a core of a minidump, which whocall's engine and gdb read as any other."""

from __future__ import annotations

import mmap
import os
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import BinaryIO

from whocall.core.elf_head import ET_EXEC, PAGE, ElfHead, read_elf_head
from whocall.core.errors import Error
from whocall.core.records import replace
from whocall.core.signals import signal_name
from whocall.dumps import sparse
from whocall.dumps.contexts import prstatus
from whocall.dumps.core_writer import (
    NT_AUXV,
    NT_PRSTATUS,
    file_note,
    module_note,
    name_note,
    note,
    partial_map_note,
    process_note,
    segments_of,
    signal_note,
    write_core,
)
from whocall.dumps.kinds import MINIDUMP
from whocall.dumps.library_places import with_places
from whocall.dumps.microdump import MOST_TEXT, read_microdump
from whocall.dumps.minidump import DumpModule, Minidump, Region, read_minidump


def _program_name(dump: Minidump) -> str:
    if dump.modules:
        return dump.modules[0].path.rpartition("/")[2]
    return dump.command.partition(" ")[0].rpartition("/")[2]


def notes_of(dump: Minidump) -> bytes:
    """In the kernel's order: the thread that crashed first, behind it what is the process's, the
    signal in each thread.
    """
    signal = dump.crash.signal if dump.crash else 0
    command = dump.command or (dump.modules[0].path if dump.modules else "")
    parts = []
    for at, thread in enumerate(dump.threads):
        status = prstatus(dump.machine, thread.lwp, signal, thread.registers)
        parts.append(note("CORE", NT_PRSTATUS, status))
        if at == 0:
            pid = dump.pid or thread.lwp
            parts.append(process_note(dump.machine, pid, _program_name(dump), command))
            if dump.crash:
                parts.append(signal_note(dump.machine, dump.crash))
            if dump.auxiliary:
                parts.append(note("CORE", NT_AUXV, dump.auxiliary))
            parts.append(file_note(dump.machine, dump.regions))
            parts.append(module_note(dump.modules))
            if not dump.mapped:
                parts.append(partial_map_note())
            parts.append(name_note((one.lwp, one.name) for one in dump.threads if one.name))
    return b"".join(parts)


def amount(size: int) -> str:
    """`8.5 KB`."""
    return f"{size / (1 << 20):.1f} MB" if size >= 1 << 20 else f"{size / (1 << 10):.1f} KB"


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


def with_files(dump: Minidump, files: Mapping[int, str]) -> Minidump:
    """Says of the modules whose `files` (by an address in the module) are known what is mapped.

    What the dump tells itself stays: its mappings and its auxiliary vector.
    """
    regions = list(dump.regions)
    told = sorted(regions, key=lambda region: region.begin)
    begins = [region.begin for region in told]
    ends = list(accumulate((region.end for region in told), max))  # of all up to here
    places = sorted(files)
    auxiliary = dump.auxiliary
    for at, module in enumerate(dump.modules):
        place = bisect_left(places, module.begin)
        inside = place < len(places) and places[place] < module.end
        path = files[places[place]] if inside else ""
        head = read_elf_head(path) if path else None
        if head is None or not head.segments:
            continue
        bias = module.begin - head.segments[0].address // PAGE * PAGE
        before = bisect_right(begins, module.begin)
        if before == 0 or ends[before - 1] <= module.begin:
            regions += _mapped(head, bias, path)
        if at == 0 and not auxiliary:
            auxiliary = _auxiliary(head, bias, dump.machine.pointer_size)
    return replace(dump, regions=regions, auxiliary=auxiliary)


def _mapped(head: ElfHead, bias: int, path: str) -> Iterator[Region]:
    for part in head.segments:
        begin = (part.address + bias) // PAGE * PAGE
        end = -(-(part.address + bias + part.file_size) // PAGE) * PAGE
        if begin < end < 1 << 64:
            yield Region(begin, end, part.flags, part.offset // PAGE * PAGE, path)


def _auxiliary(head: ElfHead, bias: int, word: int) -> bytes:
    """What debuggers place the program by: AT_PHDR, AT_PHENT, AT_PHNUM, AT_PAGESZ, AT_ENTRY."""
    first = head.segments[0]
    table = first.address - first.offset + head.table_offset + bias
    told = (3, table, 4, head.row_size, 5, head.rows, 6, PAGE, 9, head.entry + bias)
    mask = (1 << word * 8) - 1
    values = [value & mask for value in (*told, 0, 0)]
    return struct.pack(f"<{len(values)}{'Q' if word == 8 else 'I'}", *values)


class Converter:
    """A minidump that cores are made of."""

    def __init__(self, file: BinaryIO, name: str, sysroot: str = "") -> None:
        """Keeps `file` open under another descriptor. Raises Error."""
        self._name = name
        try:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (ValueError, OSError) as error:
            raise Error(f"{name} cannot be read: {error}", path=name) from error
        self._mapped: mmap.mmap | bytes = mapped  # what the memory's places are of
        if mapped[:4] == MINIDUMP:
            with memoryview(mapped) as data:
                self._told = read_minidump(data, name)
        else:
            self._told, self._mapped = read_microdump(mapped[:MOST_TEXT], name)
        self.dump = self._told
        self._held = 0  # bytes of memory
        self.place(sysroot)

    def place(self, sysroot: str) -> None:
        """Looks for the files of libraries that are known by name alone, below `sysroot`."""
        self.dump = replace(self._told, modules=with_places(self._told.modules, sysroot))

    def take_program(self, exe: str) -> bool:
        """Takes the user's word for the program of a dump that lists no modules.

        Crashpad finds none in static programs. Where they run at the addresses that they are linked
        for, the file tells all that such a list would. Returns whether it was taken.
        """
        head = read_elf_head(exe)
        if self._told.modules or head is None or head.kind != ET_EXEC or not head.segments:
            return False
        begin = head.segments[0].address // PAGE * PAGE
        end = max(part.address + part.size for part in head.segments)
        program = DumpModule(begin, end, os.path.abspath(exe), "")
        self._told = self.dump = replace(self._told, modules=[program])
        return True

    def write(self, out: BinaryIO, files: Mapping[int, str] | None = None) -> None:
        """Writes the core; `files` as in with_files()."""
        dump = with_files(self.dump, files) if files else self.dump
        segments = segments_of(dump.memory, dump.regions)
        self._held = sum(segment.held for segment in segments)
        sparse.require_room(self._held, self._name, out)
        try:
            with memoryview(self._mapped) as data:
                write_core(out, dump.machine, notes_of(dump), segments, data)
        except OSError as error:
            if error.errno in sparse.NO_ROOM:
                raise sparse.full(self._name, out) from error
            raise

    def remarks(self) -> list[str]:
        """Sentences on what is missing in the core that was written."""
        kind = "microdump" if isinstance(self._mapped, bytes) else "minidump"
        told = [
            f"{self._name} is a {kind} with {amount(self._held)} of the process's memory: what"
            " else a walk would read is missing, so frames may be."
        ]
        if not self.dump.modules:
            told.append(
                f"{self._name} lists no modules, as Crashpad's minidumps of static programs: name"
                " the program behind it."
            )
        damaged = " is damaged" if kind == "minidump" else ""
        return told + [f"{self._name}{damaged}: {remark}." for remark in self.dump.remarks[:5]]
