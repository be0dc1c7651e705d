"""What `whocall open` answers: a plain core of whatever a crash came in."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

from whocall.dumps import sparse
from whocall.inputs.unpacking import as_json, unpack

if TYPE_CHECKING:
    from whocall.base.file_search import Search
    from whocall.gdb_helper.output import Output
    from whocall.report.form.jsonform import Json


def unpacked(search: Search, out: Output, wanted: Json) -> Json:
    """Writes the core to the empty file that is open under the number `descriptor`; what is to be
    thrown away lies in `folder`. Of the two a helper has its own, for this one answer.
    """
    if wanted["folder"]:
        sparse.use(wanted["folder"])
        tempfile.tempdir = wanted["folder"]
    with os.fdopen(wanted["descriptor"], "r+b", buffering=0, closefd=False) as core:
        return as_json(unpack(wanted["file"], wanted["exe"], search, core))
