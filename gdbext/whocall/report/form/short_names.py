"""Names of functions for lines that have no room for all that C++ and Rust put into them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property


class ShortNames:
    """Leaves out what names can do without, as far as `names` stay different."""

    def __init__(self, names: Iterable[str]) -> None:
        self._all = set(names)

    @cached_property
    def _shared(self) -> list[set[str]]:
        """By form: what would stand for several names."""
        from whocall.core.native_module import native

        forms = [
            Counter(native.short_form(name, form) for name in self._all)
            for form in range(native.NAME_FORMS)
        ]
        return [{form for form, count in each.items() if count > 1} for each in forms]

    def fit(self, name: str, room: int) -> str:
        """The longest form of at most `room` characters, or the shortest."""
        if len(name) <= room or not ("<" in name or "(" in name):
            return name
        from whocall.core.native_module import native

        best = name
        for form in range(native.NAME_FORMS):
            short = native.short_form(name, form)
            if len(short) < len(best) and short not in self._shared[form]:
                best = short
            if len(best) <= room:
                break
        return best
