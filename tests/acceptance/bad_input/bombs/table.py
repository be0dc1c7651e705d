"""Everything that fills the table."""

from __future__ import annotations

from acceptance.bad_input.bombs import (
    archives,
    cores,
    debug_info,
    images,
    jit,
    languages,
    logs,
    microdumps,
    minidumps,
    names,
    packed,
    pe_files,
    programs,
    reports,
    symbol_files,
)

__all__ = [
    "archives",
    "cores",
    "debug_info",
    "images",
    "jit",
    "languages",
    "logs",
    "microdumps",
    "minidumps",
    "names",
    "packed",
    "pe_files",
    "programs",
    "reports",
    "symbol_files",
]
