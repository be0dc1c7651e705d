"""The list of stock programs and situations. To add one: how it is started, and how to know that it
is in place.
"""

from __future__ import annotations

from pathlib import Path

from stock.arrival import (
    POLL,
    READ,
    WRITE,
    announced,
    announced_waiting,
    blocked_in,
    byte_written,
    computing,
)
from stock.preparation import build_many, make_repository
from stock.program import StockProgram

PYTHON, BASH, PERL, GIT, OPENSSL, GDB = (
    f"/usr/bin/{name}" for name in ("python3", "bash", "perl", "git", "openssl", "gdb")
)

ONE_ARENA = {"MALLOC_ARENA_MAX": "1"}
"""glibc reserves 64 MiB for each thread's heap, and gcore writes the reservations out: 1 GB of
zeros for 64 threads.
"""


def _script(name: str) -> str:
    return str(Path(__file__).parent / "scripts" / name)


def _interpreters() -> list[StockProgram]:
    signal_script = _script("signal_handler.py")
    return [
        StockProgram("python3", (PYTHON, "-I", _script("deep.py"), "30"), announced(), frames=150),
        StockProgram(
            "python3-threads",
            (PYTHON, "-I", _script("threads.py"), "64"),
            announced(64),
            40,
            threads=65,
            environment=ONE_ARENA,
        ),
        *(
            StockProgram(
                f"python3-signal-{way}", (PYTHON, "-I", signal_script, way), announced(), frames=30
            )
            for way in ("kill", "alarm", "alternate")
        ),
        StockProgram("bash", (BASH, _script("deep.bash"), "12"), announced(), frames=60),
        StockProgram("perl", (PERL, _script("deep.pl"), "20"), announced(), frames=60),
    ]


def _git() -> list[StockProgram]:
    log = (GIT, "--no-pager", "log", "-p", "--stat", "--graph")
    batch = (GIT, "cat-file", "--batch")
    grep = (GIT, "--no-pager", "grep", "--threads=1", "-n", "line")
    return [
        StockProgram("git-log", log, blocked_in(WRITE, 1), frames=10, prepare=make_repository),
        StockProgram("git-grep", grep, blocked_in(WRITE, 1), frames=10, prepare=make_repository),
        StockProgram(
            "git-cat-file", batch, blocked_in(READ, 0), frames=10, prepare=make_repository
        ),
    ]


def _openssl() -> list[StockProgram]:
    # Those that compute are caught anywhere, now and then between two calls near the bottom.
    prime = (OPENSSL, "prime", "-generate", "-bits", "4096", "-safe")
    return [
        *(
            StockProgram(f"openssl-prime-{moment}", prime, computing(moment / 100), frames=5)
            for moment in (10, 25, 45)
        ),
        StockProgram("openssl-genrsa", (OPENSSL, "genrsa", "16384"), computing(0.2), frames=5),
        StockProgram("openssl-dhparam", (OPENSSL, "dhparam", "4096"), computing(0.2), frames=5),
        StockProgram(
            "openssl-speed",
            (OPENSSL, "speed", "-seconds", "60", "rsa2048"),
            computing(0.3),
            frames=5,
        ),
        StockProgram("openssl-pkey", (OPENSSL, "pkey"), blocked_in(READ, 0), frames=10),
        StockProgram("openssl-dgst", (OPENSSL, "dgst", "-sha256"), blocked_in(READ, 0), frames=8),
    ]


def _debuggers() -> list[StockProgram]:
    # As many threads of its own on every machine; it debugs a program stopped at its first
    # instruction, which dies with it.
    fixed = ("-iex", "maintenance set worker-threads 2", "-iex", "set debuginfod enabled off")
    gdb = (GDB, "-nx", "-q", *fixed, "-ex", "starti", "-x", _script("gdb_command.py"))
    return [
        StockProgram(
            "gdb-prompt",
            (*gdb, "-ex", "announce", PERL),
            announced_waiting(POLL, 3),
            frames=8,
            threads=3,
        ),
        StockProgram(
            "gdb-python", (*gdb, "-ex", "descend 8", PERL), announced(), frames=120, threads=3
        ),
    ]


def _forth() -> str:
    """Debian 13 has no gforth."""
    return "/usr/bin/gforth" if Path("/usr/bin/gforth").exists() else "/usr/bin/pforth"


def _small_interpreters() -> list[StockProgram]:
    # They compute for ever and are caught anywhere: nothing is arranged but the depth.
    programs = (
        ("lua", ("/usr/bin/lua5.4", _script("deep.lua"), "30"), 60, 1.0),
        # It frees nothing meanwhile: after a second its core is larger than a gigabyte.
        ("mujs", ("/usr/bin/mujs", _script("deep.js")), 100, 0.1),
        ("duktape", ("/usr/bin/duk", _script("deep.js")), 40, 1.0),
        ("forth", (_forth(), _script("deep.fs")), 5, 1.0),
    )
    return [
        StockProgram(name, argv, computing(seconds), frames)
        for name, argv, frames, seconds in programs
    ]


def _native_threads() -> list[StockProgram]:
    return [
        StockProgram(
            "many-64-threads",
            ("./many", "64"),
            byte_written(),
            frames=20,
            threads=65,
            prepare=build_many,
        )
    ]


def stock_programs() -> list[StockProgram]:
    """Every situation, cheap ones and dear ones together; one that is not installed fails."""
    return [
        *_interpreters(),
        *_small_interpreters(),
        *_native_threads(),
        *_debuggers(),
        *_git(),
        *_openssl(),
    ]
