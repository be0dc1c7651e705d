"""Byte code of the whole package, written before that is not possible any more.

In the sandbox a module that is imported for the first time would be compiled each time anew: who
reads files of strangers must not write what Python runs.
"""

from __future__ import annotations

import os
import sys
from importlib.util import cache_from_source

# Of modules that are imported for the first time in the sandbox, each for another purpose, Python
# writes nothing by itself: where all of them have byte code, somebody has compiled all: this, pip,
# or a package's installation. (Of what is imported before, as of __main__, it does write.)
_IN_SANDBOX = (
    os.path.join("dumps", "abrt.py"),
    os.path.join("report", "page", "rust_overflow.py"),
    os.path.join("resolve", "formats", "kernel.py"),
)

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def is_compiled() -> bool:
    """Whether that was done, or cannot be."""
    places = [cache_from_source(os.path.join(_PACKAGE, each)) for each in _IN_SANDBOX]
    if sys.dont_write_bytecode or all(map(os.path.exists, places)):
        return True
    folder = os.path.dirname(places[0])
    return not os.access(folder if os.path.isdir(folder) else _PACKAGE, os.W_OK)


def compile_package() -> None:
    """Does so once, where the byte code can be kept."""
    if not is_compiled():
        import compileall

        compileall.compile_dir(_PACKAGE, quiet=2)
