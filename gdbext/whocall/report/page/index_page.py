"""The page that lists the cores of a directory, each with a link to its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from whocall.core.timestamps import moment
from whocall.report.page.writing import asset, environment, hashed


@dataclass(frozen=True)
class Entry:
    """A core of the directory."""

    name: str  # relative to the directory
    size: int  # bytes
    modified: float  # seconds since 1970
    program: str = ""
    signal: str = ""
    trouble: str = ""  # why it cannot be read

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
        """When it was written, by the clock of this machine."""
        return moment(self.modified, "%Y-%m-%d %H:%M:%S", local=True)


def index_text(directory: str, entries: Sequence[Entry], left_out: int = 0) -> str:
    """The page, HTML. Raises Error without jinja2."""
    style = asset("page.css")
    policy = f"default-src 'none'; style-src {hashed(style)}; img-src data:; base-uri 'none'"
    text: str = (
        environment()
        .from_string(asset("index.html"))
        .render(directory=directory, entries=entries, left_out=left_out, style=style, policy=policy)
    )
    return text
