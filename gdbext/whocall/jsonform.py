"""The JSON forms, each with its schema word. Keys that do not apply are null, never absent;
addresses are hex strings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whocall.model import Backtrace, Frame, Report

Json = dict[str, Any]


def hexes(value: int | None) -> str | None:
    """An address as JSON holds it."""
    return None if value is None else f"{value:#x}"


def frame_json(frame: Frame) -> Json:
    """One frame."""
    source = None
    if frame.file is not None:
        source = {"file": frame.file, "line": frame.line}
    return {
        "level": frame.level,
        "pc": hexes(frame.pc),
        "cfa": hexes(frame.cfa),
        "function": frame.function,
        "offset": frame.offset,
        "name_source": frame.name_source,
        "inferred": frame.inferred,
        "aliases": list(frame.aliases),
        "module": frame.module,
        "build_id": frame.build_id or None,
        "rva": hexes(frame.rva),
        "trust": frame.trust,
        "evidence": list(frame.evidence),
        "inlined": frame.inlined,
        "signal_trampoline": frame.signal_trampoline,
        "source": source,
    }


def thread_json(trace: Backtrace) -> Json:
    """One thread with its frames."""
    return {
        "number": trace.number,
        "lwp": trace.lwp,
        "name": trace.name or None,
        "crashed": trace.crashed,
        "signal": trace.signal,
        "frames": [frame_json(frame) for frame in trace.frames],
        "stop": {"reason": trace.stop.reason, "detail": trace.stop.detail or None},
    }


def backtrace_json(report: Report) -> Json:
    """A report, schema whocall.backtrace/1."""
    return {
        "schema": "whocall.backtrace/1",
        "arch": report.arch,
        "source": {"core": report.core or None, "exe": report.exe or None},
        "warnings": list(report.warnings),
        "threads": [thread_json(trace) for trace in report.threads],
    }


def mi_value(value: Any) -> Any:
    """A JSON value as GDB/MI can hold it: tuples, lists and strings alone.

    Numbers become decimal strings, truth "true" or "false" (as in gdb's own -var-update), and a key
    whose value is null is left out, as gdb leaves out the fields that do not apply.
    """
    if isinstance(value, dict):
        return {key: mi_value(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [mi_value(item) for item in value if item is not None]
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def text(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """JSON text, one value a line where that helps reading; ends with a newline."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
