"""Backtraces stated literally: a program `prog` and a libc, no process behind them."""

from __future__ import annotations

from typing import Any

from whocall.base.model import Backtrace, Frame, Report, Stop

PROG = "/opt/prog"
LIBC = "/lib/libc.so.6"
MAIN = 0x401186


def frame(level: int, pc: int, function: str | None, trust: str = "cfi", **more: Any) -> Frame:
    """A frame in `prog` whose CFA moves up 16 bytes a level."""
    values: dict[str, Any] = {
        "cfa": 0x7FFE0010 + 16 * level,
        "offset": None if function is None else 10,
        "name_source": None if function is None else "symtab",
        "module": PROG,
        "build_id": "99a6",
        "rva": pc - 0x400000,
        "evidence": ("call-before",) if level else (),
    }
    values.update(more)
    return Frame(level=level, pc=pc, trust=trust, function=function, **values)


def frames() -> list[Frame]:
    """crash <- compare <- qsort <- main <- __libc_start_main <- _start."""
    return [
        frame(0, 0x401139, "sub_1139", "context", interrupted=True),
        frame(1, 0x401149, "sub_1143", "analysis"),
        frame(2, 0x7F0000001BF4, "qsort", module=LIBC),
        frame(3, MAIN, "main", file="t.c", line=9),
        frame(4, 0x7F000000024A, "__libc_start_main", module=LIBC),
        frame(5, 0x401071, "_start"),
    ]


def trace(chain: list[Frame] | None = None, **more: Any) -> Backtrace:
    """Thread 1, which crashed."""
    values: dict[str, Any] = {
        "number": 1,
        "lwp": 4242,
        "stop": Stop("end-of-stack", "_start"),
        "name": "prog",
        "crashed": True,
        "signal": "SIGSEGV",
        "sp": 0x7FFE0000,
    }
    values.update(more)
    return Backtrace(frames=frames() if chain is None else chain, **values)


def report(*traces: Backtrace, **more: Any) -> Report:
    """A report on `prog`."""
    values: dict[str, Any] = {"core": "/tmp/core", "exe": PROG}
    values.update(more)
    return Report(arch="x86_64", threads=traces or (trace(),), **values)
