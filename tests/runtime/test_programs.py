"""Stock programs, each with a signal of a crash sent to it while it waits: with the handler they
say and end as without, and the report is what `whocall bt` finds in the core. docs/crash.md lists
them.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from corpus.dumper import leaving_core
from places.needs import KERNEL_CORES, allow_cores

from runtime.campaign import backtraces_of_core
from runtime.lab import PRELOAD, TIMEOUT_SECONDS
from runtime.reports import Report, read_reports

pytestmark = pytest.mark.needs(KERNEL_CORES)

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "crash.md"
PROGRAMS = {
    "as": ["as", "-o", "/dev/null"],
    "bash": ["bash", "--norc"],
    "bzip2": ["bzip2", "-c"],
    "cat": ["cat"],
    "dash": ["dash"],
    "Duktape": ["duk"],
    "Emacs": ["emacs", "--batch", "--eval", "(sleep-for 100)"],
    "fish": ["fish", "--no-config"],
    "gcc's cc1plus": ["cc1plus", "-quiet", "-"],
    "gdb": ["gdb", "-nx", "-q"],
    "git": ["git", "hash-object", "--stdin"],
    "Guile": ["guile", "--no-auto-compile", "-c", "(read-char)"],
    "gzip": ["gzip", "-c"],
    "Lua": ["lua5.4", "-e", "io.read()"],
    "LuaJIT": ["luajit", "-e", "io.read()"],
    "mawk": ["mawk", "{print}"],
    "MuJS": ["mujs"],
    "OCaml": ["ocaml"],
    "OpenSSL": ["openssl", "dgst"],
    "Perl": ["perl", "-e", "sleep 100"],
    "Python": ["/usr/bin/python3", "-c", "input()"],
    "sed": ["sed", "p"],
    "sleep": ["sleep", "100"],
    "sort": ["sort"],
    "SQLite": ["sqlite3"],
    "tail": ["tail", "-f", "/dev/null"],
    "tar": ["tar", "-x"],
    "xz": ["xz", "-c"],
    "zsh": ["zsh", "-f"],
    "zstd": ["zstd", "-c"],
}
RECOVERS = {"Chez Scheme": ["chezscheme", "-q"]}
"""From a signal that means nothing to it."""
_CALM = 5  # looks at a program that waits in the kernel, one after the other


@dataclass(frozen=True)
class Ran:
    """How a program has ended."""

    status: int
    said: str
    told: str  # by the library
    reports: list[Report]
    cores: list[Path]


def command_of(name: str) -> list[str]:
    """gcc's own parts are not where others are."""
    words = {**PROGRAMS, **RECOVERS}[name]
    if words[0] == "cc1plus":
        asked = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True, check=True)
        words = [os.fsdecode(asked.stdout.strip()), *words[1:]]
    assert shutil.which(words[0]), f"{words[0]} is not installed"
    return words


def wait_for_calm(process: int) -> None:
    """Until it waits for what nobody will send."""
    calm = 0
    until = time.monotonic() + TIMEOUT_SECONDS
    while calm < _CALM:
        assert time.monotonic() < until
        time.sleep(0.04)
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        calm = calm + 1 if state == "S" else 0


class Running:
    """A program that waits for its input."""

    def __init__(self, name: str, folder: Path, preloaded: bool) -> None:
        self._folder = folder
        folder.mkdir()
        given = {**os.environ, "HOME": str(folder), "TERM": "dumb"}
        if preloaded:
            given.update(LD_PRELOAD=str(PRELOAD), WHOCALL_CRASH_TEXT=str(folder / "report.%p"))
        self._process = subprocess.Popen(
            leaving_core(command_of(name)), cwd=folder, env=given, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=allow_cores,
        )  # fmt: skip

    def crash(self) -> Ran:
        """Sends it the signal and waits for its end."""
        wait_for_calm(self._process.pid)
        self._process.send_signal(signal.SIGSEGV)
        said = self._process.communicate(timeout=TIMEOUT_SECONDS)[0].decode(errors="replace")
        report = self._folder / f"report.{self._process.pid}"
        said, mark, rest = said.partition("whocall: ")  # of programs that may open no file any more
        text = report.read_text(errors="replace") if report.exists() else mark + rest
        cores = list(self._folder.glob("core*"))
        return Ran(self._process.returncode, plain(said), text, read_reports(text), cores)


def plain(said: str) -> str:
    """Without addresses and numbers, and without the list of libraries that some end with."""
    said = re.sub(r"0x[0-9a-fA-F]+|\d+", "N", said)
    return "\n".join(line for line in said.splitlines() if "libwhocall" not in line)


def both(name: str, tmp_path: Path) -> tuple[Ran, Ran]:
    """Alone, and with the library."""
    alone, preloaded = (Running(name, tmp_path / word, word == "with") for word in ("by", "with"))
    return alone.crash(), preloaded.crash()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program(name: str, tmp_path: Path) -> None:
    alone, ran = both(name, tmp_path)
    assert ran.status == alone.status
    assert said_first(ran.said) == said_first(alone.said)
    assert len(ran.cores) == len(alone.cores)
    # Some versions live on, and some bring a stack for handlers that is too small where the
    # processor has many registers.
    if not ran.reports and (alone.status >= 0 or "too small for a report" in ran.told):
        return
    (report,) = ran.reports
    assert report.complete
    told = [frame.address for frame in report.frames()]
    for core in ran.cores:
        threads = backtraces_of_core(core, "--past-main")["threads"]
        crashed = next(thread for thread in threads if thread["crashed"])
        known = [int(each["pc"], 16) for each in crashed["frames"] if not each["inlined"]]
        # Where a handler of the program's own had it first, that stands in the core, too.
        assert told == known[len(known) - len(told) :]
        assert len(told) == len(known) or "a handler of the program had it first" in report.lines[0]


def said_first(said: str) -> str:
    """Not the frames that some programs tell by themselves: among those ours are."""
    return said.lstrip().partition("\n")[0]


@pytest.mark.parametrize("name", RECOVERS)
def test_one_that_recovers(name: str, tmp_path: Path) -> None:
    alone, ran = both(name, tmp_path)
    assert (ran.status, ran.said, ran.reports, ran.cores) == (alone.status, alone.said, [], [])


def test_the_list() -> None:
    (line,) = re.findall(r"^Others that were tried: (.*)\.$", DOCUMENT.read_text(), re.MULTILINE)
    assert line.split(", ") == [*PROGRAMS, *RECOVERS]
