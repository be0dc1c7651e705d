"""Byte code of the whole package, written before that is not possible any more.

In the sandbox a module that is imported for the first time would be compiled each time anew: who
reads files of strangers must not write what Python runs.
"""

from __future__ import annotations

import os
import sys
from importlib.util import cache_from_source

# Python writes none of this one by itself, as it is never imported: where there is one, somebody
# has compiled all: this, pip, or a package's installation.
_LAST = "__main__.py"


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def is_compiled() -> bool:
    """Whether that was done, or cannot be."""
    place = cache_from_source(os.path.join(_PACKAGE, _LAST))
    if sys.dont_write_bytecode or os.path.exists(place):
        return True
    folder = os.path.dirname(place)
    return not os.access(folder if os.path.isdir(folder) else _PACKAGE, os.W_OK)


def compile_package() -> None:
    """Does so once, where the byte code can be kept."""
    if not is_compiled():
        import compileall

        compileall.compile_dir(_PACKAGE, quiet=2)
