"""The severity of crashes with files and without, with code and without, as cores and as dumps: it
is the same, or not known.

    PYTHONPATH=../gdbext python3 -m triage.variants      (in tests/)

The crashes are those of the corpora: with unwind tables, without, damaged, and the forty bugs. The
whole is what is known with everything at hand, without Python's capstone, which nothing may need.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from acceptance.inputs.made_minidumps import Form, made

import whocall
from triage.catalog import BUILDS, bugs
from triage.crashes import made_cores
from whocall.base.file_search import Search
from whocall.triage.examine import examine
from whocall.triage.facts import Facts
from whocall.triage.severity import CLASSES, UNDEFINED

DUMPS = {
    "dump": Form(),
    "dump without code": Form(code=False),
    "dump without code and si_code": Form(code=False, flags=False),
    "dump without maps": Form(maps=False, flags=False),
}


def kinds(core: Path, dumps: Mapping[str, Form] = DUMPS) -> dict[str, str]:
    """The class of a crash by what is at hand; first of all with everything."""
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        forms = {"core": core}
        with whocall.open_core(str(core)) as image:
            has_dumps = image.arch == "x86_64"
        for name, form in dumps.items() if has_dumps else ():
            forms[name] = made(core, Path(scratch) / f"{len(forms)}.dmp", form)
        nowhere = Path(scratch) / "nowhere"
        nowhere.mkdir()
        for name, path in forms.items():
            for search in (Search(), Search(sysroot=str(nowhere))):
                word = f"{name} without files" if search.sysroot else name
                found[word] = str(examine(str(path), search, Facts(None))["kind"])
    return found


def complaints(core: Path, found: Mapping[str, str]) -> list[str]:
    """Where a severity is another than with everything, and not unknown."""
    whole = CLASSES[found["core"]][0]
    severities = {word: CLASSES[kind][0] for word, kind in found.items()}
    return [
        f"{core}: {found['core']}, {word}: {found[word]}"
        for word, severity in severities.items()
        if severity not in (whole, UNDEFINED)
    ]


def crashes() -> Iterator[Path]:
    """The cores of the corpora."""
    from acceptance.helpers.damageruns import Subject, build_damage
    from corpus import build_all

    for tables in (True, False):
        yield from (each.built.core for each in build_all(None, tables=tables) if each.built)
    yield from (each.built.core for each in build_damage() if isinstance(each, Subject))
    yield from (each.core for each in made_cores(list(bugs()), BUILDS, [1]))


def survey(cores: Iterable[Path]) -> tuple[Counter[str], list[str]]:
    """How many severities are the same, unknown, or wrong."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for core in cores:
        found = kinds(core)
        said = complaints(core, found)
        wrong += said
        counts["crashes"] += 1
        counts["looks"] += len(found)
        counts["same"] += sum(
            CLASSES[one][0] == CLASSES[found["core"]][0] for one in found.values()
        )
        counts["wrong"] += len(said)
    counts["not known"] = counts["looks"] - counts["same"] - counts["wrong"]
    return counts, wrong


def main() -> None:
    """Prints the counts and what is wrong; exits 1 where something is."""
    sys.modules["capstone"] = None  # type: ignore[assignment]
    counts, wrong = survey(crashes())
    print(*(f"{count:,} {word}" for word, count in counts.items()), sep=", ")
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
