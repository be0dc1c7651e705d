"""Which function answers what: a question is called "MODULE.FUNCTION", of this package. The modules
are imported when they are first asked.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from whocall.base.file_search import Search
    from whocall.gdb_helper.current import Current
    from whocall.gdb_helper.output import Output
    from whocall.report.form.jsonform import Json

    OfProcess = Callable[[Current, Output, Json], Any]
    OfFiles = Callable[[Search, Output, Json], Any]


def of_process(name: str) -> OfProcess:
    """What answers of the process that gdb has selected."""
    found: OfProcess = _function(name)
    return found


def of_files(name: str) -> OfFiles:
    """What answers of files alone."""
    found: OfFiles = _function(name)
    return found


def _function(name: str) -> Any:
    module, _, function = name.partition(".")
    return getattr(import_module(f"whocall.gdb_helper.{module}"), function)
