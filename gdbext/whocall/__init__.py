"""whocall: true backtraces of stripped programs.

    import whocall
    with whocall.open_core("core", "prog") as image:
        for trace in image.report().threads:
            for frame in trace.frames:
                print(frame.level, hex(frame.pc), frame.function, frame.trust)

`print(whocall.backtrace_text(image.report()), end="")` prints it as `whocall bt` does.
`trace.frames` makes each frame when it is asked for. Where there are very many, tuples cost least:
`for pc, function in trace.rows("pc", "function")`.

Importing this is cheap; the native module is loaded when the first name that needs it is used, and
NativeMissingError says then how to get it.
"""

from __future__ import annotations

from whocall.base.errors import Error, NativeMissingError, UsageError
from whocall.base.version import __version__

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from whocall._native import SymbolTable, decode_frame_chain, demangle
    from whocall.base.file_search import Search
    from whocall.base.long_work import left_out
    from whocall.base.model import Backtrace, Frame, Report, Stop
    from whocall.base.process_image import ProcessImage, Walk, open_process, open_symbols
    from whocall.inputs.opening import open_core
    from whocall.report.backtrace.written import backtrace_text
    from whocall.report.form.jsonform import backtrace_json
    from whocall.report.tables.waits import waits_data

_HOMES = {
    "Backtrace": "whocall.base.model",
    "Frame": "whocall.base.model",
    "Report": "whocall.base.model",
    "Stop": "whocall.base.model",
    "ProcessImage": "whocall.base.process_image",
    "Walk": "whocall.base.process_image",
    "open_core": "whocall.inputs.opening",
    "open_process": "whocall.base.process_image",
    "backtrace_json": "whocall.report.form.jsonform",
    "backtrace_text": "whocall.report.backtrace.written",
    "SymbolTable": "whocall._native",
    "decode_frame_chain": "whocall._native",
    "demangle": "whocall._native",
    "open_symbols": "whocall.base.process_image",
    "left_out": "whocall.base.long_work",
    "Search": "whocall.base.file_search",
    "waits_data": "whocall.report.tables.waits",
}

__all__ = [
    "Backtrace",
    "Error",
    "Frame",
    "NativeMissingError",
    "ProcessImage",
    "Report",
    "Search",
    "Stop",
    "SymbolTable",
    "UsageError",
    "Walk",
    "__version__",
    "backtrace_json",
    "backtrace_text",
    "decode_frame_chain",
    "demangle",
    "left_out",
    "open_core",
    "open_process",
    "open_symbols",
    "waits_data",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'whocall' has no attribute {name!r}")
    from importlib import import_module

    if home == "whocall._native":
        from whocall.base.loader import load

        load()
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value
