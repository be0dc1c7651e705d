"""Uses one damaged file in every way there is, in a process of its own that may die of it.

Reads paths from standard input, one a line, and answers each with a line: `fine`, `refused` and
the sentence, or a traceback folded into one line, which is a defect. So is dying unanswered.
"""

from __future__ import annotations

import contextlib
import faulthandler
import resource
import sys
import traceback

import whocall
from whocall.base.model import TextForm
from whocall.base.native_module import native
from whocall.report.backtrace.written import report_text
from whocall.report.form import jsonform
from whocall.report.form.style import Style

MEMORY_BYTES = 4 << 30
"""A damaged size may not become an allocation. Address space, of which maps take their share."""


def use_core(path: str) -> None:
    """Backtraces of all threads as text and JSON, and what stands at each pc."""
    with whocall.open_core(path) as image:
        report = image.report(walk=whocall.Walk(max_frames=2000, explain=True, registers=True))
        jsonform.text(jsonform.backtrace_json(report))
        form = TextForm(full=True, explain=True, every_thread=True)
        list(report_text(report, form, Style()))
        for thread in image.threads:
            image.native.describe(thread.pc)
        for index in range(len(image.modules)):
            image.native.report(index)


def use_object(path: str) -> None:
    """The function table with PLT names, source lines, the rows of both sections, the audit."""
    table = whocall.open_symbols(path)
    for index in range(min(len(table), 100)):
        symbol = table[index]
        table.find(symbol.start)
        for address in range(symbol.start, symbol.end, max(1, (symbol.end - symbol.start) // 32)):
            table.lines_at(address)
    for section in (".eh_frame", ".debug_frame"):
        native.cfi_rows(path, section)
    with contextlib.suppress(native.Error):  # without tables, or of an unknown instruction set
        native.audit(path, 5)


def answer(path: str) -> str:
    """What came of one file."""
    try:
        if path.endswith(".core"):
            use_core(path)
        else:
            use_object(path)
    except (whocall.Error, native.Error) as error:
        return f"refused {' '.join(str(error).split())}"
    except BaseException:
        return "defect " + " | ".join(traceback.format_exc().splitlines())
    return "fine"


if __name__ == "__main__":
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    for line in sys.stdin:
        print(answer(line.rstrip("\n")), flush=True)
