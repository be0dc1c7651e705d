"""The flame graph of all threads of a report."""

from __future__ import annotations

from collections.abc import Iterator

from whocall.base.model import Report
from whocall.report.formats.flamegraph import flamegraph_svg
from whocall.report.formats.folded import folded


def text(report: Report) -> Iterator[str]:
    """The picture."""
    name = (report.core or report.exe or "a process").rpartition("/")[2]
    yield flamegraph_svg(folded(report.threads).items(), f"Threads of {name}")
