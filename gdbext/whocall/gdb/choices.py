"""The values that completion offers. Completion must never fail: without a native module or a
program there is nothing to offer.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

import gdb

from whocall.errors import Error
from whocall.options import Chooser


def strategies() -> list[str]:
    """What may be switched off."""
    try:
        from whocall.engine import native
    except Error:
        return []
    return list(native.strategies())


def modules() -> list[str]:
    """File names of the loaded modules."""
    try:
        from whocall.gdb.inferior import current

        image = current().image
    except (Error, gdb.error):
        return []
    return sorted({PurePath(module.path).name for module in image.modules if module.path})


CHOOSERS: Mapping[str, Chooser] = {"without": strategies, "module": modules}
