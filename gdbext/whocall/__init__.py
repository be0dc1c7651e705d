"""whocall: true backtraces of stripped programs.

    import whocall
    with whocall.open_core("core", "prog") as image:
        for trace in image.report().threads:
            for frame in trace.frames:
                print(frame.level, hex(frame.pc), frame.function, frame.trust)

Importing this is cheap; the native module is loaded when the first name that needs it is used, and
NativeMissingError says then how to get it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whocall.errors import Error, NativeMissingError, UsageError
from whocall.version import __version__

if TYPE_CHECKING:
    from whocall._native import SymbolTable, decode_frame_chain, demangle
    from whocall.image import ProcessImage, Walk, open_core, open_process, open_symbols
    from whocall.jsonform import backtrace_json
    from whocall.model import Backtrace, Frame, Report, Stop
    from whocall.search import Search

_HOMES = {
    "Backtrace": "whocall.model",
    "Frame": "whocall.model",
    "Report": "whocall.model",
    "Stop": "whocall.model",
    "ProcessImage": "whocall.image",
    "Walk": "whocall.image",
    "open_core": "whocall.image",
    "open_process": "whocall.image",
    "backtrace_json": "whocall.jsonform",
    "SymbolTable": "whocall._native",
    "decode_frame_chain": "whocall._native",
    "demangle": "whocall._native",
    "open_symbols": "whocall.image",
    "Search": "whocall.search",
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
    "decode_frame_chain",
    "demangle",
    "open_core",
    "open_process",
    "open_symbols",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'whocall' has no attribute {name!r}")
    from importlib import import_module

    if home == "whocall._native":
        from whocall.loader import load

        load()
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value
