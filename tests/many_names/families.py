"""Which classes descend from which, by the symbols and relocations of a file that has them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from whocall import demangle

_RELOCATION = re.compile(r"^([0-9a-f]+)\s+[0-9a-f]+\s+R_X86_64_(\w+)\s+(.*)$", re.MULTILINE)
_ONE_BASE = "__si_class_type_info"
_SEVERAL = "__vmi_class_type_info"


class Families:
    """Itanium C++ ABI, 2.9.4: a type info is two words, and behind them the base's; where there are
    several, from the fourth word on every second one.
    """

    def __init__(self, twin: Path) -> None:
        listed = subprocess.run(
            ["nm", str(twin)], capture_output=True, text=True, check=True
        ).stdout
        rows = [line.split() for line in listed.splitlines()]
        self._infos = {
            int(row[0], 16): row[2][4:] for row in rows if len(row) == 3 and row[2][:4] == "_ZTI"
        }
        shown = subprocess.run(
            ["readelf", "-rW", str(twin)], capture_output=True, text=True, check=True
        ).stdout
        self._words = {int(where, 16): (kind, to) for where, kind, to in _RELOCATION.findall(shown)}
        self._places = {name: at for at, name in self._infos.items()}
        self._spelled: dict[str, list[str]] = {}
        for name in self._places:
            self._spelled.setdefault(_spelled(name), []).append(name)

    def _info_at(self, where: int) -> str | None:
        """The class whose type info the word there leads to."""
        kind, target = self._words.get(where, ("", ""))
        if kind == "RELATIVE":
            return self._infos.get(int(target, 16))
        found = re.search(r"\b_ZTI(\w+)", target)
        return found[1] if found else None

    def _bases(self, name: str) -> list[str]:
        at = self._places.get(name)
        kind = self._words.get(at or 0, ("", ""))[1]
        if at is None or (_ONE_BASE not in kind and _SEVERAL not in kind):
            return []
        count, step = (1, 8) if _ONE_BASE in kind else (64, 16)
        first = at + (16 if count == 1 else 24)
        found = []
        for number in range(count):
            base = self._info_at(first + number * step)
            if base is None:
                break
            found.append(base)
        return found

    def ancestors(self, name: str) -> set[str]:
        """All classes that a class descends from, as people write them; so its own name."""
        found: set[str] = set()
        left = list(self._spelled.get(name, ()))
        while left:
            for base in self._bases(left.pop()):
                if base not in found:
                    found.add(base)
                    left.append(base)
        return set(map(_spelled, found))


def _spelled(name: str) -> str:
    return demangle(f"_ZTS{name}").removeprefix("typeinfo name for ")
