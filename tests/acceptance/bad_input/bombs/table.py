"""Everything that fills the table."""

from __future__ import annotations

from acceptance.bad_input.bombs import (
    cores,
    debug_info,
    images,
    jit,
    logs,
    microdumps,
    minidumps,
    names,
    packed,
    programs,
    reports,
)

__all__ = [
    "cores",
    "debug_info",
    "images",
    "jit",
    "logs",
    "microdumps",
    "minidumps",
    "names",
    "packed",
    "programs",
    "reports",
]
