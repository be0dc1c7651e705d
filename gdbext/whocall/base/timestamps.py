"""Moments as text. Clocks go wrong, and files may come from any of them."""

from __future__ import annotations

from datetime import datetime, timezone


def moment(seconds: float, form: str) -> str:
    """Seconds since 1970 by a form of strftime, UTC; a moment that no calendar of ours has (beyond
    the year 9999) as the number that it is.
    """
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime(form)
    except (ValueError, OverflowError, OSError):
        return f"{seconds:.0f} s after 1970"
