"""Backtraces as text, in the form of gdb's own `bt` so that they read at once; native code writes
it (`native/report/threads_text.h`).
"""

from __future__ import annotations

from collections.abc import Iterator

from whocall.base.model import Backtrace, Report, TextForm
from whocall.report.form.style import Style


def report_text(report: Report, form: TextForm, style: Style) -> Iterator[str]:
    """The whole report, many lines at a time."""
    from whocall.base.native_backtraces import written  # it loads the native module

    return written(report.threads).text(form, style.codes)


def backtrace_text(report: Report | Backtrace) -> str:
    """What `whocall bt` prints of it, in no colours; several threads each under a title. Raises
    Error where its backtraces are not of one process image.
    """
    from whocall.base.native_backtraces import written

    threads = [report] if isinstance(report, Backtrace) else report.threads
    form = TextForm(every_thread=len(threads) > 1, arguments="values")
    return "".join(written(threads).text(form, Style().codes))
