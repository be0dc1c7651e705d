"""Crashes as SARIF 2.1.0: one result a crashed thread, with its call stack, for what gathers the
results of tools (code scanning, editors).

A result's fingerprint is made of the innermost named frames, so that two crashes at one place are
one result for who compares.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from whocall.base.model import Backtrace, Frame, Report
from whocall.base.printable import printable, safe_json
from whocall.base.version import __version__

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
MOST_FRAMES = 1_000  # of a stack; what is beyond is counted in its message
FINGERPRINTED = 6  # frames
_LARGEST = (1 << 63) - 1  # of an address that every reader of JSON takes as it is


def uri(path: str) -> str:
    """A file's path as a reference by URI."""
    return quote(path.replace("\\", "/"), safe="/", errors="surrogateescape")


def _location(frame: Frame, with_address: bool = True) -> dict[str, Any]:
    location: dict[str, Any] = {}
    physical: dict[str, Any] = {}
    if frame.file is not None:
        physical["artifactLocation"] = {"uri": uri(frame.file)}
        if frame.line:
            physical["region"] = {"startLine": frame.line}
    elif frame.module is not None and not with_address:
        physical["artifactLocation"] = {"uri": uri(frame.module)}
    if with_address and frame.pc <= _LARGEST:
        physical["address"] = {"absoluteAddress": frame.pc, "kind": "instruction"}
    if physical:
        location["physicalLocation"] = physical
    if frame.function is not None:
        location["logicalLocations"] = [{"fullyQualifiedName": frame.shown, "kind": "function"}]
    location["message"] = {"text": f"{frame.shown} [{frame.trust}]"}
    return location


def _stack(trace: Backtrace) -> dict[str, Any]:
    shown = trace.frames[:MOST_FRAMES]
    frames = []
    for frame in shown:
        item: dict[str, Any] = {"location": _location(frame), "threadId": trace.lwp}
        if frame.module is not None:
            item["module"] = printable(PurePath(frame.module).name or frame.module)
        item["properties"] = {
            "trust": frame.trust,
            "evidence": list(frame.evidence),
            "buildId": frame.build_id or None,
            "linkAddress": None if frame.rva is None else f"{frame.rva:#x}",
        }
        frames.append(item)
    more = len(trace.frames) - len(shown)
    message = f"The call stack of thread {trace.number}"
    return {
        "message": {"text": f"{message}, {more:,} frames left out" if more else message},
        "frames": frames,
    }


def _fingerprint(trace: Backtrace) -> str:
    places = []
    for frame in trace.frames[:64]:
        if frame.signal_trampoline:
            continue
        module = (frame.module or "").rpartition("/")[2]
        places.append(f"{module}!{frame.function or hex(frame.rva or 0)}")
        if len(places) == FINGERPRINTED:
            break
    return hashlib.sha256("\n".join(places).encode("utf-8", "surrogatepass")).hexdigest()


def _result(trace: Backtrace, report: Report) -> dict[str, Any]:
    signal = trace.signal or "stopped"
    program = printable((report.exe or report.core or "a process").rpartition("/")[2])
    first = next((frame for frame in trace.frames if not frame.signal_trampoline), None)
    where = "" if first is None else f" in {first.shown}"
    rule = signal if trace.crashed else "stopped"
    result: dict[str, Any] = {
        "ruleId": rule,
        "level": "error" if trace.crashed else "note",
        "message": {"text": f"{program}: {rule}{where}, thread {trace.number}"},
        "stacks": [_stack(trace)],
        "partialFingerprints": {"whocall/stack/v1": _fingerprint(trace)},
    }
    if first is not None:
        lines = next((f for f in trace.frames if f.file is not None), first)
        result["locations"] = [_location(lines, with_address=False)]
    return result


def log(report: Report) -> dict[str, Any]:
    """The log as JSON values."""
    results = [_result(trace, report) for trace in report.threads]
    rules = dict.fromkeys(result["ruleId"] for result in results)
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "whocall",
                        "version": __version__,
                        "rules": [{"id": rule, "name": rule} for rule in rules],
                    }
                },
                "results": results,
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [
                            {"level": "warning", "message": {"text": printable(warning)}}
                            for warning in report.warnings
                        ],
                    }
                ],
                "columnKind": "unicodeCodePoints",
            }
        ],
    }


def text(report: Report) -> Iterator[str]:
    """The file."""
    yield safe_json(json.dumps(log(report), ensure_ascii=False, indent=1))
    yield "\n"
