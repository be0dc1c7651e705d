"""The crash that every command works on."""

from __future__ import annotations

from faults.conftest import archive, chain, place, trace

__all__ = ["archive", "chain", "place", "trace"]
