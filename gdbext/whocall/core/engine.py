"""The native module, loaded. Importing this raises NativeMissingError when it cannot be."""

from __future__ import annotations

from whocall.core.loader import load

load()

import whocall._native as native  # noqa: E402

__all__ = ["native"]
