"""All programs of the trial, in the order of the table. Each list was written before any result
was looked at.
"""

from __future__ import annotations

from field_trial import chosen, fresh, known
from field_trial.program import Program


def programs() -> list[Program]:
    """Known ones, fresh ones, and ten more that were chosen before looking."""
    return [*known.programs(), *fresh.programs(), *chosen.programs()]
