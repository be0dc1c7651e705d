"""The buckets as one page of HTML: no network, no script, opens from disk, prints.

Every string of a core is text and never markup: the template's engine escapes all of them.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from whocall.core.printable import printable
from whocall.report.page.writing import needs_templates
from whocall.triage.summary import SHOWN, frame_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whocall.triage.run import Findings

ROWS = 1000  # cores without a stack that the page shows


def page_text(findings: Findings) -> Iterator[str]:
    """In pieces. Raises Error where the engine of templates is not installed."""
    needs_templates("triage")
    from jinja2 import Environment

    source = (Path(__file__).parent / "page.html").read_text(encoding="utf-8")
    made = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.filters["frame"] = frame_text
    made.filters["address"] = partial(quote, errors="surrogateescape")
    made.filters["clean"] = printable
    failed = (row for row in findings.store.rows() if row["reason"] is not None)
    pieces: Iterator[str] = made.from_string(source).generate(
        findings=findings, failed=failed, shown=SHOWN, rows=ROWS, titles=_TITLES
    )
    return pieces


_TITLES = {
    "module": "Modules",
    "build_id": "Builds",
    "host": "Hosts",
    "day": "Days",
    "kind": "Classes",
    "program": "Programs",
}
