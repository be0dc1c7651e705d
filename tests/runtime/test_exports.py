"""What the libraries show to programs is what the header promises; they ask the C library alone."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from runtime.lab import LIBRARIES, NATIVE

DECLARED = re.compile(r"^WHOCALL_API [^;(]*?\b(\w+)\(", re.MULTILINE)
HANDLERS = {
    *("sigaction", "signal", "__sysv_signal", "bsd_signal", "ssignal", "sigset", "sigignore"),
    "sigaltstack",
    *("_exit", "_Exit"),
}
HEADER = NATIVE / "runtime" / "whocall.h"


def declared() -> set[str]:
    names = set(DECLARED.findall(HEADER.read_text()))
    assert {"who_call_me", "whocall_install"} <= names
    return names


def symbols(path: Path, *options: str) -> set[str]:
    said = subprocess.run(["nm", *options, path], capture_output=True, text=True, check=True)
    lines = [line.split() for line in said.stdout.splitlines()]
    return {words[-1].partition("@")[0] for words in lines if len(words) >= 2}


def test_the_shared_library() -> None:
    assert symbols(LIBRARIES / "libwhocall.so", "-D", "--defined-only") == declared()


def test_the_preloaded_library() -> None:
    """It stands before functions of the C library: for threads' stacks, and for handlers."""
    found = symbols(LIBRARIES / "libwhocall-crash.so", "-D", "--defined-only")
    assert found == declared() | {"pthread_create", "thrd_create"} | HANDLERS


def test_the_static_library() -> None:
    """All else is hidden: no name of it can meet one of the program's libraries."""
    said = subprocess.run(
        ["readelf", "-sW", LIBRARIES / "libwhocall.a"], capture_output=True, text=True, check=True
    )
    found = set()
    for line in said.stdout.splitlines():
        words = line.split()
        if words[5:6] == ["DEFAULT"] and words[4] in ("GLOBAL", "WEAK") and words[6] != "UND":
            found.add(words[7])
    assert found == declared()


def test_they_need_the_c_library_alone() -> None:
    for name in ("libwhocall.so", "libwhocall-crash.so"):
        said = subprocess.run(
            ["readelf", "-dW", LIBRARIES / name], capture_output=True, text=True, check=True
        )
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said.stdout)
        assert set(needed) <= {"libc.so.6", "ld-linux-x86-64.so.2"}, needed
        assert "BIND_NOW" in said.stdout


def test_nothing_allocates_but_the_start() -> None:
    """What the parts that run in handlers ask of the C library."""
    asked = symbols(LIBRARIES / "libwhocall.so", "-D", "--undefined-only")
    forbidden = {"malloc", "free", "calloc", "realloc", "printf", "fopen", "dladdr", "syslog"}
    assert not asked & forbidden
