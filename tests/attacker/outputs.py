"""What is run on a specimen, and who judges what it says."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from attacker import judges
from attacker.specimen import Specimen
from whocall.cli.main import main

Judge = Callable[[str], Iterator[str]]


def _words(of: Specimen, command: str, *more: str) -> list[str]:
    return [command, str(of.core), f"--exe={of.exe}", *more]


def _bt(*more: str) -> Callable[[Specimen], list[str]]:
    return lambda of: ["bt", str(of.core), str(of.exe), *more]


def _core(command: str, *more: str) -> Callable[[Specimen], list[str]]:
    return lambda of: [command, str(of.core), str(of.exe), *more]


def _file(command: str, *more: str) -> Callable[[Specimen], list[str]]:
    return lambda of: [command, str(of.exe), *more]


OUTPUTS: dict[str, tuple[Callable[[Specimen], list[str]], Judge]] = {
    "bt": (_bt("--all"), judges.plain),
    "bt in colour": (_bt("--all", "--color=always"), judges.styled),
    "bt explained": (_bt("--explain", "--full", "--color=always"), judges.styled),
    "bt json": (_bt("--json", "--all"), judges.data),
    "caller": (_core("caller", "--frame=4", "--color=always"), judges.styled),
    "functions": (_file("functions", "--color=always"), judges.styled),
    "functions of a core": (lambda of: _words(of, "functions"), judges.plain),
    "functions json": (_file("functions", "--json"), judges.data),
    "symbol": (_file("symbol", "--color=always", "{code}"), judges.styled),
    "modules": (_core("modules", "--color=always"), judges.styled),
    "modules narrow": (_core("modules", "--width=40"), judges.plain),
    "modules json": (_core("modules", "--json"), judges.data),
    "why": (_core("why", "--color=always"), judges.styled),
    "why json": (_core("why", "--json"), judges.data),
    "waits": (_core("waits", "--color=always"), judges.styled),
    "waits json": (_core("waits", "--json"), judges.data),
    "audit": (_file("audit"), judges.plain),
    "audit json": (_file("audit", "--json"), judges.data),
    "report json": (lambda of: _words(of, "report", "--json", "--no-gdb"),
                    judges.data),
    "speedscope": (_bt("--format=speedscope"), judges.shown_data),
    "firefox": (_bt("--format=firefox"), judges.shown_data),
    "folded": (_bt("--format=folded"), judges.folded),
    "flamegraph": (_bt("--format=flamegraph"), judges.picture),
    "sarif": (_bt("--format=sarif"), judges.shown_data),
    "markdown": (_bt("--format=markdown"), judges.markdown),
    "mail": (_bt("--format=mail"), judges.mail),
    "no such file": (lambda of: ["bt", str(of.core) + ".gone"], judges.plain),
    "no thread": (_bt("--thread=1"), judges.plain),
    "no regular expression": (
        lambda of: ["functions", str(of.exe), of.true.decode("utf-8", "surrogateescape") + "("],
        judges.plain,
    ),
}  # fmt: skip


def _text(stream: io.TextIOWrapper) -> str:
    held = stream.buffer
    assert isinstance(held, io.BytesIO)
    return held.getvalue().decode("utf-8")


def said(words: Sequence[str]) -> tuple[str, str]:
    """What the command line writes: bytes that have to be UTF-8, on either stream."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(list(words))
        except SystemExit:  # argparse
            pass
        sys.stdout.flush()
        sys.stderr.flush()
    return _text(out), _text(err)


def complaints(of: Specimen, name: str) -> Iterator[str]:
    """What is wrong with one output on one specimen."""
    make, judge = OUTPUTS[name]
    words = [word.replace("{code}", "0x1180") for word in make(of)]
    try:
        out, err = said(words)
        found = [*(judge(out) if out else ()), *judges.plain(err)]
    except Exception as error:
        found = [f"{type(error).__name__}: {error}"]
    if "Traceback" in (out + err if not found else ""):
        found.append("a traceback")
    for each in found:
        yield f"{name} of a hostile {of.field}: {each}"


def page_complaints(of: Specimen, place: Path) -> Iterator[str]:
    """Of the report's page."""
    target = place / "report.html"
    out, err = said(["report", str(of.core), f"--exe={of.exe}", "--no-gdb", "-o", str(target)])
    found = [*judges.page(target.read_text(encoding="utf-8")), *judges.plain(out + err)]
    yield from (f"page of a hostile {of.field}: {each}" for each in found)
