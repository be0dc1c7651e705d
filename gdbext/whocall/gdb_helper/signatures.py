"""What `whocall signatures` answers, and whether files of signatures can be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whocall.base.signatures import require_readable, signatures_of

if TYPE_CHECKING:
    from whocall.base.file_search import Search
    from whocall.gdb_helper.output import Output
    from whocall.report.form.jsonform import Json


def signatures(search: Search, out: Output, wanted: Json) -> list[str]:
    """Hands over the file's contents; returns what is said of them."""
    contents, said = signatures_of(wanted["archives"], wanted["output"])
    out.hand_over(contents)
    return said


def signature_files(search: Search, out: Output, wanted: Json) -> None:
    """Raises Error for the first file that is no signature file, or a damaged one."""
    require_readable(wanted["paths"])
