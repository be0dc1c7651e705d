"""Small files that were made to cost their reader minutes or gigabytes, each as the program that
writes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Command = list[str]


@dataclass(frozen=True)
class Bomb:
    """`make` writes its files into a folder and returns the commands that open them."""

    format: str
    name: str
    make: Callable[[Path], list[Command]]
    told: str = ""
    """What the first command says on standard error; "" where the answer is whole."""


BOMBS: list[Bomb] = []


def bomb(
    kind: str, told: str = ""
) -> Callable[[Callable[[Path], list[Command]]], Callable[[Path], list[Command]]]:
    """Puts the function into the table, under its own name."""

    def add(make: Callable[[Path], list[Command]]) -> Callable[[Path], list[Command]]:
        BOMBS.append(Bomb(kind, make.__name__, make, told))
        return make

    return add
