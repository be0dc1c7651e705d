"""The buckets as one page of HTML: no network, opens from disk, prints.

Every string of a core is text and never markup: the templates' engine escapes all of them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from whocall.report.page.writing import LIST_SCRIPTS, environment, needs_templates, rendered
from whocall.triage.summary import SHOWN, frame_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whocall.triage.run import Findings

ROWS = 1000  # cores without a stack that the page shows


def page_text(findings: Findings, page: str | None = None) -> Iterator[str]:
    """In pieces. `page` is the file that it will be, where that is known: links to others lead
    there from it. Raises Error where the engine of templates is not installed.
    """
    needs_templates("triage")
    made = environment(Path(__file__).parent / "assets")
    made.filters["frame"] = frame_text
    made.filters["address"] = lambda path: address_from(page, path)
    failed = (row for row in findings.store.rows() if row["reason"] is not None)
    values = {"findings": findings, "failed": failed, "titles": _TITLES}
    return rendered(made, "triage.html", LIST_SCRIPTS, **values, shown=SHOWN, rows=ROWS)


def address_from(page: str | None, path: str) -> str:
    """Where a page's link to the file `path` leads: from the page's own folder on, or, where nobody
    knows in which that will be, from the root.
    """
    if page is None:
        return "file://" + quote(str(Path(path).absolute()), errors="surrogateescape")
    return quote(os.path.relpath(path, Path(page).parent), errors="surrogateescape")


_TITLES = {
    "module": "Modules",
    "build_id": "Builds",
    "host": "Hosts",
    "day": "Days",
    "kind": "Classes",
    "program": "Programs",
}
