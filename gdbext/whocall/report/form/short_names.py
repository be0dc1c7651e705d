"""Names of functions for lines that have no room for all that C++ and Rust put into them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

TYPE_CHECKING = False

if TYPE_CHECKING:
    import whocall._native as native


class ShortNames:
    """Leaves out what names can do without, as far as `names` stay different, as backtraces do."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = set(names)

    @cached_property
    def _forms(self) -> native.NameForms:
        from whocall.base.native_module import native

        forms = native.NameForms()
        for name in self._names:
            forms.add(name)
        return forms

    def fit(self, name: str, room: int) -> str:
        """The longest form of at most `room` characters, or the shortest."""
        return name if len(name) <= room else self._forms.fit(name, max(room, 0))
