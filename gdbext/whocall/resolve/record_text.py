"""A record of a crash as the text that libwhocall would have printed, less the names."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

from whocall.base.architecture import architecture
from whocall.base.native_module import native
from whocall.base.signals import signal_name
from whocall.resolve.formats.libwhocall import INTERRUPTED
from whocall.resolve.record import (
    CUT,
    NO_MODULE,
    QUESTION,
    REPORTER_CRASHED,
    Record,
    RecordedFrame,
    RecordedThread,
)

TRUST = ("context", "cfi", "analysis", "frame-pointer")
_ENDS = {
    1: "the outermost frame",
    2: "no unwind table covers this code, and no frame pointer leads on",
    3: "the stack cannot be read any further",
    4: "there are more frames than anyone would read",
}
_IN_LINE = 4
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def _time(nanoseconds: int) -> str:
    try:
        moment = _EPOCH + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError:
        return f"{nanoseconds} ns after 1970"
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def _arch(record: Record) -> str | None:
    """The instruction set's name; None for one that is not known."""
    return native.architecture_of_elf(record.machine, record.address_size, record.big_endian)


def _headline(record: Record) -> str:
    known = signal_name(_arch(record) or "", record.signal)
    name = known or f"signal {record.signal}"
    crashed = next((each for each in record.threads if each.crashed), None)
    called = f' "{crashed.name}"' if crashed is not None else ""
    is_question = bool(record.flags & QUESTION)
    what = "goes on, asked by" if is_question else "crashed:"
    where = "" if is_question else f" at address {record.fault_address:#x}"
    return (
        f"whocall: {record.program or '?'}[{record.process}] {what} {name} (signal "
        f"{record.signal}, code {record.code}){where}, thread "
        f"{record.thread}{called}, record {record.sequence} of {_time(record.time)}"
    )


def _frame(record: Record, number: int, frame: RecordedFrame) -> str:
    place = "?"
    if frame.module < len(record.modules) and frame.module != NO_MODULE:
        module = record.modules[frame.module]
        place = f"{module.path}(+{(frame.address - module.bias) % (1 << 64):#x})"
    trust = TRUST[frame.trust] if frame.trust < len(TRUST) else TRUST[-1]
    width = 2 * record.address_size + 2
    return f"#{number:<2} {frame.address:#0{width}x} {place} ? [{trust}]"


def _registers(record: Record, thread: RecordedThread) -> Iterator[str]:
    arch = _arch(record)
    names = architecture(arch).registers if arch else ()
    width = 2 * record.address_size + 2
    pairs = [f"{name}={value:#0{width}x}" for name, value in zip(names, thread.registers)]
    for at in range(0, len(pairs), _IN_LINE):
        yield "registers: " + " ".join(pairs[at : at + _IN_LINE])


def _thread(record: Record, thread: RecordedThread) -> Iterator[str]:
    if not thread.crashed:
        silent = " gives no answer: it blocks signals, or waits for the kernel"
        yield f'thread {thread.lwp} "{thread.name}"{silent if thread.silent else ":"}'
        if thread.silent:
            return
    yield from _registers(record, thread)
    gap = max(0, thread.all_frames - len(thread.frames))
    inner = len(thread.frames) - thread.outermost
    for at, frame in enumerate(thread.frames):
        if at == inner and gap:
            yield f"... {gap} frames ..."
        if frame.interrupted and frame.trust != 0:
            yield INTERRUPTED
        yield _frame(record, at if at < inner else at + gap, frame)
    if gap and not thread.outermost:
        yield f"... {gap} frames ..."
    yield f"end of the stack: {_ENDS.get(thread.end, 'nobody knows why')}"


def record_lines(record: Record) -> Iterator[str]:
    """The report, line by line."""
    yield _headline(record)
    if record.flags & CUT:
        yield "whocall: there was not room for all in the record"
    if record.flags & REPORTER_CRASHED:
        yield "whocall: the report itself crashed, and this is what it had"
    for key, value in record.annotations:
        yield f"annotation: {key} = {value}"
    for thread in record.threads:
        yield from _thread(record, thread)
    width = 2 * record.address_size + 2
    for module in record.modules:
        yield (
            f"module: {module.begin:#0{width}x}-{module.end:#0{width}x} bias {module.bias:#x} "
            f"build id {module.build_id or '-'} {module.path}"
        )
