"""What a process says of its crash, as the engine takes it, and in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from whocall.base.architecture import architecture
from whocall.base.errors import Error
from whocall.base.native_module import native
from whocall.base.process_image import ToldCrash
from whocall.base.signals import signal_name
from whocall.base.timestamps import moment
from whocall.resolve.record import Record, read_records

_SECOND = 1_000_000_000  # nanoseconds


def record_in(data: bytes) -> Record:
    """The one record that a process sends. Raises Error."""
    records, damages = read_records(data, "what it says of its crash")
    if len(records) != 1 or damages or not any(each.crashed for each in records[0].threads):
        raise Error("what it says of its crash is no record of one")
    return records[0]


def _arch(record: Record) -> str:
    return native.architecture_of_elf(record.machine, record.address_size, record.big_endian) or ""


def _thread_here(process: int, thread: int) -> int:
    """Our number of the thread that the process calls so: in a container it has another one."""
    tasks = Path("/proc", str(process), "task")
    for task in tasks.iterdir():
        for line in (task / "status").read_text(errors="replace").splitlines():
            if line.startswith("NSpid:") and line.split()[-1] == str(thread):
                return int(task.name)
    return thread


def told_crash(record: Record, process: int) -> ToldCrash:
    """Of a process, by our number of it. Raises Error."""
    arch = _arch(record)
    if not arch:
        raise Error(f"it is of an instruction set that whocall does not know ({record.machine})")
    crashed = next(each for each in record.threads if each.crashed)
    try:
        thread = _thread_here(process, crashed.lwp)
    except OSError as error:
        raise Error("it has ended") from error
    return ToldCrash(
        lwp=thread,
        registers=dict(zip(architecture(arch).registers, crashed.registers)),
        signal=record.signal,
        code=record.code,
        address=record.fault_address if record.code > 0 else None,
        sender=record.sender,
    )


def name_of(record: Record) -> str:
    """Of the program, as its file is called."""
    return Path(record.program).name or "?"


def headline(record: Record, process: int) -> str:
    """server[4711] crashed: SIGSEGV."""
    signal = signal_name(_arch(record), record.signal) or f"signal {record.signal}"
    return f"{name_of(record)}[{process}] crashed: {signal}"


def heading(record: Record, process: int) -> Iterator[str]:
    """The lines above the frames: what a core has no place for."""
    at = moment(record.time / _SECOND, "%Y-%m-%d %H:%M:%S UTC")
    yield f"{headline(record, process)}, {at}"
    for key, value in record.annotations:
        yield f"annotation: {key} = {value}"
    yield ""
