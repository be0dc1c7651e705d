"""What works on which instruction set, by programs that show it.

python3 -m ports.features   # the table of docs/instruction-sets.md
"""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import redirect_stdout
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import whocall
from ports.case import cases
from ports.names import named
from ports.sets import SETS
from whocall.base.file_search import Search
from whocall.base.model import Backtrace
from whocall.base.process_image import Walk
from whocall.cli import main as cli


def _traces(
    name: str, program: str, tables: bool, without: Collection[str] = ()
) -> Iterator[Backtrace]:
    walk = Walk(past_main=True, lines=False, demangle=False, without=tuple(without))
    for case in cases(SETS[name], tables):
        if case.program.name == program:
            built = case.kept()
            search = Search(sysroot=built.sysroot)
            with whocall.open_core(str(built.core), str(built.exe), search=search) as image:
                yield from image.report(walk=walk).threads


def _has_trust(
    trust: str, program: str, tables: bool, without: Collection[str] = ()
) -> Callable[[str], bool]:
    def check(name: str) -> bool:
        traces = _traces(name, program, tables, without)
        return any(frame.trust == trust for trace in traces for frame in trace.frames)

    return check


def _begins_threads(name: str) -> bool:
    traces = _traces(name, "threads", True, ("cfi",))
    return any(trace.stop.detail == "a new thread begins there" for trace in traces)


def _calls_between_files(name: str) -> bool:
    """Whether it is known where a call went that left the file."""
    frames = next(_traces(name, "abort", True)).frames
    return any(
        outer.module != inner.module and "call-target" in outer.evidence
        for inner, outer in pairwise(frames)
    )


@cache
def _sources(name: str, link: str) -> frozenset[str]:
    """Of the names of a program that says them, or that has a C library in it."""
    if link != "static":
        return frozenset(named(name, link)[1].named)
    with TemporaryDirectory() as place:
        signatures = Path(place) / "libc.sig"
        library = Path(SETS[name].sysroot) / "lib" / "libc.a"
        made = cli.main(["signatures", str(library), "-o", str(signatures)]) == 0
        return frozenset(named(name, link, *([signatures] if made else []))[1].named)


def _has_source(source: str, link: str) -> Callable[[str], bool]:
    return lambda name: source in _sources(name, link)


def _shows_source(source: str, exe: Callable[[str], Path]) -> Callable[[str], bool]:
    """In the table that `whocall functions` prints."""

    def check(name: str) -> bool:
        shown = io.StringIO()
        with redirect_stdout(shown):
            cli.main(["functions", "--sysroot", SETS[name].sysroot, str(exe(name))])
        return any(line.split()[2:3] == [source] for line in shown.getvalue().splitlines())

    return check


def _stripped(name: str) -> Path:
    return named(name, "nopie")[0].with_name("names")


def _with_virtual_calls(name: str) -> Path:
    return next(
        case.kept().exe for case in cases(SETS[name], True) if case.program.name == "virtual_calls"
    )


FEATURES: Mapping[str, Callable[[str], bool]] = {
    "walks by unwind tables": _has_trust("cfi", "chain", True),
    "walks by instructions, without tables": _has_trust("analysis", "chain", False),
    "walks by the chain of frames alone": _has_trust(
        "frame-pointer", "chain", False, ("cfi", "analysis", "scan")
    ),
    "searches behind overwritten frames": _has_trust("scan", "overwritten_128", False),
    "follows calls to other files (PLT, GOT)": _calls_between_files,
    "goes on through signal handlers": _has_trust("context", "signal_timer", False),
    "knows where threads begin": _begins_threads,
    "names `main` by the start-up code": _has_source("entry", "static"),
    "names stubs of imported functions": _shows_source("plt", _stripped),
    "names virtual functions": _shows_source("vtable", _with_virtual_calls),
    "names functions by their messages": _has_source("message", "static"),
    "names functions of static libraries by signatures": _has_source("signature", "static"),
}


def table() -> list[str]:
    """Markdown: a row for each feature, a column for each set."""
    rows = [f"| | {' | '.join(SETS)} |", f"|---{'|:-:' * len(SETS)}|"]
    for feature, works in FEATURES.items():
        cells = ["yes" if works(name) else "–" for name in SETS]
        rows.append(f"| {feature} | {' | '.join(cells)} |")
    return rows


if __name__ == "__main__":
    print("\n".join(table()))
