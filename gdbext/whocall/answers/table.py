"""Which function answers what; the modules are imported when they are first asked."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from whocall.answers.current import Current
    from whocall.answers.output import Output
    from whocall.core.search import Search
    from whocall.report.form.jsonform import Json

    OfProcess = Callable[[Current, Output, Json], Any]
    OfFiles = Callable[[Search, Output, Json], Any]

_HOMES = {
    "backtrace": "backtraces",
    "backtrace_data": "backtraces",
    "caller": "backtraces",
    "why": "backtraces",
    "comparison": "comparisons",
    "shadow": "comparisons",
    "symbols": "tables",
    "functions": "tables",
    "modules": "tables",
    "module_ranges": "tables",
    "function_names": "tables",
    "trace": "traces",
    "plan": "plans",
    "exported": "plans",
}
_HOMES_OF_FILES = {
    "audit": "tables",
    "symbols_of_file": "tables",
    "functions_of_file": "tables",
    "trace_of_file": "traces",
    "plan_of_file": "plans",
    "exported_file": "plans",
    "unpacked": "unpacked",
    "signatures": "signatures",
    "signature_files": "signatures",
}


def of_process(name: str) -> OfProcess:
    """What answers of the process that gdb has selected."""
    found: OfProcess = getattr(import_module(f"whocall.answers.{_HOMES[name]}"), name)
    return found


def of_files(name: str) -> OfFiles:
    """What answers of files alone."""
    found: OfFiles = getattr(import_module(f"whocall.answers.{_HOMES_OF_FILES[name]}"), name)
    return found


def is_of_files(name: str) -> bool:
    """Which of the two it is."""
    return name in _HOMES_OF_FILES
