"""What the mutant of a number is."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from mutations import stacks
from mutations.kinds import KINDS, Change
from mutations.layout import Layout
from mutations.originals import ORIGINALS

MIXED = "mixed"
"""Two or three kinds at once."""


@dataclass(frozen=True)
class Mutant:
    """One damaged core, or program, or both."""

    original: str
    kind: str
    changes: list[Change]
    lines: bool = False
    """Whether source lines are asked for too. Whole files of the system tell them: they take half
    of the time, and damage reaches them seldom.
    """


def applies(kind: str, layout: Layout) -> bool:
    """Whether the original has what the kind damages."""
    if kind in ("registers", "stack-words", "stack-returns", "stack-pattern", "frame-chain",
                "stack-copied"):  # fmt: skip
        return bool(layout.stacks and layout.returns and layout.registers)
    if kind == "core-code":
        return bool(layout.code_in_core)
    if kind.startswith("core-") or kind == "note-sizes":
        return True
    if layout.program is None:
        return False
    needed = {"unwind-records": ".eh_frame", "program-code": ".text"}.get(kind)
    needed = kind[len("section") :] if kind.startswith("section.") else needed
    return needed is None or len(layout.program.sections.get(needed, ())) > 16


def kinds_of(layout: Layout) -> list[str]:
    """The kinds to draw from, those that are wanted more often several times."""
    found = [kind for kind in sorted(KINDS) if applies(kind, layout)]
    return found + [kind for kind in stacks.HEAVY if kind in found] * 2 + [MIXED] * 2


def mutant(seed: int, number: int, layout_of: Callable[[str], Layout]) -> Mutant:
    """Hangs on the seed and the number alone, as long as the originals stay."""
    chance = random.Random(f"{seed}/{number}")
    weights = [weight for weight, _ in ORIGINALS.values()]
    (name,) = chance.choices(list(ORIGINALS), weights)
    layout = layout_of(name)
    drawn = [chance.choice(kinds_of(layout))]
    if drawn[0] == MIXED:
        some = [kind for kind in kinds_of(layout) if kind != MIXED]
        drawn = [chance.choice(some) for _ in range(chance.randint(2, 3))]
    changes = [change for kind in drawn for change in KINDS[kind](chance, layout)]
    return Mutant(name, "+".join(drawn), changes, lines=chance.randrange(8) == 0)
