"""The stacks of all threads for speedscope (https://www.speedscope.app): a sampled profile in which
every thread is a sample.

The format is that of speedscope's "file-format-schema.json": a table of frames, and for each
different stack the numbers of its frames from the outermost on, and its weight.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from whocall.base.model import Backtrace, Report, marked, rows
from whocall.base.printable import printable, safe_json
from whocall.base.version import __version__

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


class _Frames:
    """The table of frames."""

    def __init__(self) -> None:
        self.table: list[dict[str, Any]] = []
        self._known: dict[tuple[Any, ...], int] = {}

    def chain(self, trace: Backtrace) -> tuple[int, ...]:
        fields = ("function", "inferred", "module", "file", "line", "signal_trampoline")
        found = [self._number(values) for values in rows(trace.frames, *fields)]
        return tuple(reversed(found))

    def _number(self, values: tuple[Any, ...]) -> int:
        known = self._known.get(values)
        if known is None:
            known = self._known[values] = len(self.table)
            self.table.append(_frame(*values))
        return known


def _frame(
    function: str | None,
    inferred: bool,
    module: str | None,
    file: str | None,
    line: int | None,
    trampoline: bool,
) -> dict[str, Any]:
    name = (
        "<signal handler called>" if trampoline else printable(marked(function or "??", inferred))
    )
    frame: dict[str, Any] = {"name": name}
    if file is not None:
        frame["file"] = printable(file)
        if line is not None:
            frame["line"] = line
    elif module is not None:
        frame["file"] = printable(module)
    return frame


def text(report: Report) -> Iterator[str]:
    """The file."""
    frames = _Frames()
    weights: dict[tuple[int, ...], int] = {}
    for trace in report.threads:
        chain = frames.chain(trace)
        weights[chain] = weights.get(chain, 0) + 1
    name = printable((report.core or report.exe or "a process").rpartition("/")[2])
    profile = {
        "type": "sampled",
        "name": f"threads of {name}",
        "unit": "none",
        "startValue": 0,
        "endValue": len(report.threads),
        "samples": [list(chain) for chain in weights],
        "weights": list(weights.values()),
    }
    yield safe_json(
        json.dumps(
            {
                "$schema": SCHEMA,
                "exporter": f"whocall@{__version__}",
                "name": name,
                "activeProfileIndex": 0,
                "shared": {"frames": frames.table},
                "profiles": [profile],
            },
            ensure_ascii=False,
        )
    )
    yield "\n"
