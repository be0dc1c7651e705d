"""The page that lists the crashes of a directory, each with a link to its report, and buckets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from whocall.base.timestamps import moment
from whocall.report.form.jsonform import Json
from whocall.report.page.writing import LIST_SCRIPTS, environment, rendered


@dataclass(frozen=True)
class Entry:
    """A core of the directory."""

    name: str  # relative to the directory
    size: int  # bytes
    modified: float  # seconds since 1970
    program: str = ""
    signal: str = ""
    trouble: str = ""  # why it cannot be read
    sentence: str = ""  # what happened
    time: float | None = None  # of the crash, where that was noted; seconds since 1970
    bucket: str = ""  # the id of the one that it is in
    looked_at: bool = True

    @property
    def link(self) -> str:
        """The address of its report, from the page's own: that holds the server's token."""
        return "report/" + quote(self.name, safe="/", errors="surrogateescape")

    @property
    def size_text(self) -> str:
        """`1.4 MiB`."""
        for unit, word in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
            if self.size >= unit:
                return f"{self.size / unit:.1f} {word}"
        return f"{self.size} bytes"

    @property
    def time_text(self) -> str:
        """When it happened, or else when the file was written, UTC."""
        seconds = self.modified if self.time is None else self.time
        return moment(seconds, "%Y-%m-%d %H:%M:%S")


def index_text(
    directory: str,
    entries: Sequence[Entry],
    left_out: int = 0,
    buckets: Sequence[Json] = (),
) -> str:
    """The page, HTML; `buckets` are as `whocall triage` tells them, and the paths in them names of
    entries. Raises Error without jinja2.
    """
    values = {
        "directory": directory,
        "entries": entries,
        "left_out": left_out,
        "buckets": buckets,
        "links": {entry.name: entry.link for entry in entries},
        "waiting": sum(not entry.looked_at for entry in entries),
    }
    return "".join(rendered(environment(), "index.html", LIST_SCRIPTS, **values))
