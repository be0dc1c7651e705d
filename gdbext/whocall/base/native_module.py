"""The native module, loaded. Importing this raises NativeMissingError when it cannot be."""

from __future__ import annotations

from whocall.base.loader import load
from whocall.base.long_work import begin_telling

load()

import whocall._native as native  # noqa: E402

begin_telling()

__all__ = ["native"]
