"""All cases of the corpus, and building many of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from corpus.build import CorpusError
from corpus.case import BuiltCase, Case
from corpus.variants import selection


@dataclass(frozen=True)
class Outcome:
    """A case that was built with its truth found, or the reason why not."""

    case: Case
    built: BuiltCase | None
    error: str | None


def cases(patterns: Iterable[str] | None = None, tables: bool = True) -> list[Case]:
    """The corpus in its fixed order; patterns like `chain`, `chain/*O2*` or `*/*-m32*` choose.

    With `tables` false, the same programs without unwind tables of their own: a second corpus.
    """
    everything = [Case(program, variant) for program, variant in selection(tables=tables)]
    if patterns is None:
        return everything
    wanted = list(patterns)
    return [
        case
        for case in everything
        if any(
            fnmatchcase(case.name, pattern) or case.program.name == pattern for pattern in wanted
        )
    ]


def _build(case: Case, directory: Path | None) -> Outcome:
    try:
        built = case.build(directory) if directory else case.kept()
        built.truth()
    except CorpusError as error:
        return Outcome(case, None, str(error))
    return Outcome(case, built, None)


def build_all(
    directory: Path | None, names: Iterable[str] | None = None, jobs: int = 2, tables: bool = True
) -> Iterator[Outcome]:
    """Build cases and find their truth, `jobs` at a time, in order; without a directory, those
    that were built before on this machine are taken as they are.
    """
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(lambda case: _build(case, directory), cases(names, tables))
