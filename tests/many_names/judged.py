"""What the names of one stripped file come to."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from acceptance.names.true_names import INFERRED, Truth, Verdict, judge, truth_of

from many_names.families import Families
from whocall import Search, demangle
from whocall.base.process_image import open_names

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def tokens(name: str) -> Counter[str]:
    """The words of a name, as the papers on names of stripped functions count them (XFL, BLens):
    without parameters, taken apart at signs and capitals, in small letters.
    """
    bare = re.sub(r"\(.*|<[^<>]*>|\[.*\]|\.(cold|part|constprop|isra).*", "", name)
    return Counter(word.lower() for word in _WORDS.findall(bare))


@dataclass
class Tally:
    """Of one file or several."""

    functions: int = 0
    before: int = 0  # with a name that the file tells outright
    after: int = 0  # with any name or place in the source
    named: Counter[str] = field(default_factory=Counter)  # by source
    wrong: Counter[str] = field(default_factory=Counter)
    words_said: int = 0  # of names that were inferred
    words_right: int = 0
    words_true: int = 0  # of the same functions
    examples: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        for name in ("functions", "before", "after", "words_said", "words_right", "words_true"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.named += other.named
        self.wrong += other.wrong
        self.examples += other.examples


def judged(twin: Path, folder: Path) -> Tally:
    """Strips a copy and asks for every function of the twin."""
    folder.mkdir(parents=True, exist_ok=True)
    bare = folder / twin.name
    subprocess.run(["strip", "--strip-all", "-o", str(bare), str(twin)], check=True)
    truth = truth_of(twin)
    verdict = judge(bare, truth, Search())
    tally = _counted(verdict)
    _take_heirs_out(verdict, truth, Families(twin), bare, tally)
    _look(bare, truth, verdict, tally)
    bare.unlink()
    return tally


def _counted(verdict: Verdict) -> Tally:
    tally = Tally(functions=verdict.functions)
    for source, starts in verdict.named.items():
        tally.named[source] += len(starts)
    for source, places in verdict.wrong.items():
        tally.wrong[source] += len(places)
    return tally


def _take_heirs_out(
    verdict: Verdict, truth: Truth, families: Families, bare: Path, tally: Tally
) -> None:
    """A function that a class has from one whose own table the file lacks has the heir's name
    (docs/names.md): such are counted for themselves.
    """
    names = open_names(str(bare))
    for start in list(verdict.wrong["vtable"]):
        owner, slot, _ = (names.describe(start, False).raw_name or "").partition("::[slot ")
        true = [demangle(each) for each in truth.names[start]]
        if slot and any(f"{old}::" in each for old in families.ancestors(owner) for each in true):
            verdict.wrong["vtable"].pop(start)
            tally.wrong["vtable"] -= 1
            tally.named["vtable, inherited"] += 1
    tally.examples = [
        f"{source}: {said}" for source, each in verdict.wrong.items() for said in each.values()
    ]


def _look(bare: Path, truth: Truth, verdict: Verdict, tally: Tally) -> None:
    """Names and places of the functions once more, for their words."""
    names = open_names(str(bare))
    exact: set[int] = set()
    for source, starts in verdict.named.items():
        exact |= set() if source in INFERRED else starts
    tally.before = len(exact)
    for start in truth.starts:
        place = names.describe(start, False)
        is_named = place.offset == 0 and place.name_source not in (
            "fde",
            "call-target",
            "none",
            None,
        )
        tally.after += bool(is_named or place.source_hints)
        if is_named and place.inferred and place.raw_name:
            said = tokens(demangle(place.raw_name))
            true = max(
                (tokens(demangle(each)) for each in truth.names[start]),
                key=lambda words: (said & words).total(),
            )
            tally.words_said += said.total()
            tally.words_true += true.total()
            tally.words_right += (said & true).total()
