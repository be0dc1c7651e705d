"""What the runtime of a crash said before it ended the program, and what several crashes said
alike: a bucket's title may tell that, and nothing that one of its crashes did not say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whocall.base.errors import Error
from whocall.base.printable import printable
from whocall.report.causes import causes

if TYPE_CHECKING:
    from whocall.report.causes.scene import Scene

FORM = 1  # counts up whenever something else is told of the same crash
LONGEST = 400  # characters that are kept
_IN_TITLE = 120
_MORE = "..."
_LEAST = 12  # characters: a shorter beginning is chance


def said_by(scene: Scene) -> str | None:
    """Its own words, printable: a panic's, an exception's with its type, an assertion; None where
    no runtime ended the program, or what it said is not proven.
    """
    try:
        fact = causes.last_words(scene, asks_others=False)
    except Error:  # the stack tells the crash apart without it
        return None
    return _cut(printable(fact.said), LONGEST) if fact is not None and fact.said else None


def alike(one: str | None, other: str | None) -> str | None:
    """What both said: the whole, or the words that both begin with, and dots; else None."""
    if one is None or other is None or one == other:
        return one if one == other else None
    one, other = one.removesuffix(_MORE), other.removesuffix(_MORE)
    pairs = enumerate(zip(one, other))
    same = next((at for at, (ours, theirs) in pairs if ours != theirs), min(len(one), len(other)))
    begun = one[: one.rfind(" ", 0, same + 1) + 1].rstrip()
    return f"{begun} {_MORE}" if len(begun) >= _LEAST else None


def in_title(said: str | None) -> str:
    """Behind what a title says; empty for none."""
    return f": {_cut(said, _IN_TITLE)}" if said else ""


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - len(_MORE)].rstrip() + _MORE
