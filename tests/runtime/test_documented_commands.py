"""Every command line of docs/crash.md and docs/tracing.md, as it stands there, does what it is
there for; only places of a machine are others.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from places.needs import ATTACHING, KERNEL_CORES

from runtime.lab import LIBRARIES, NATIVE, PRELOAD, PROGRAMS
from runtime.receivers import WHOCALL

DOCS = NATIVE.parent / "docs"
ASKS = "#include <whocall.h>\nint main(void) { who_call_me(NULL); return 0; }\n"
ORDERS = """
#include <stdlib.h>
__attribute__((noinline)) static int leaf(int n) { return n * 3; }
__attribute__((noinline)) static int work(int n) { return leaf(n) + leaf(n + 1); }
__attribute__((noinline)) static void crash(int n) { if (n == 0) abort(); crash(n - 1); }
int main(void) { int sum = work(1); crash(1); return sum; }
"""


def command_lines(document: str) -> list[str]:
    """Those in blocks of their own, without what is said behind them."""
    found: list[str] = []
    for language, block in re.findall(
        r"^```(\w*)\n(.*?)^```", (DOCS / document).read_text(), re.DOTALL | re.MULTILINE
    ):
        if language:
            continue
        lines = block.replace("\\\n", " ").splitlines()
        shown = [line[2:] for line in lines if line.startswith("$ ")]
        told = shown or [
            line for line in lines if re.match(r"(cmake|gcc|whocall [a-z]|LD_PRELOAD=)", line)
        ]
        found += [re.sub(r" +", " ", line.partition(" #")[0]).strip() for line in told]
    return found


CRASH = command_lines("crash.md")
TRACING = command_lines("tracing.md")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """What the documents take for given: a program's source, an installed runtime, a product."""
    (tmp_path / "program.c").write_text(ASKS)
    (tmp_path / "orders.c").write_text(ORDERS)
    product = tmp_path / "product"
    product.mkdir()
    server = [PROGRAMS / "cases.c", "-O1", "-w", "-pthread", "-ldl", "-o"]
    for where in (tmp_path, product):
        subprocess.run(["gcc", *map(str, server), str(where / "server")], check=True)
    (tmp_path / "bin").mkdir()
    (tmp_path / "user").mkdir()
    whocall = tmp_path / "bin" / "whocall"
    whocall.write_text(f'#!/bin/sh\nexec {sys.executable} {WHOCALL} "$@"\n')
    whocall.chmod(0o755)
    return tmp_path


def run(line: str, place: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """The line in a shell, with places of this machine's."""
    others = {
        "build/release": LIBRARIES.parent, "native/runtime": NATIVE / "runtime",
        "/usr/local": place / "local", "build/arm": place / "arm",
        "/opt/product/bin": place / "product", "/run/user/1000": place / "user",
        "--port 80": "plain",
    }  # fmt: skip
    for one, other in others.items():
        line = line.replace(one, str(other))
    library = place / "local" / "lib"
    found = library if library.exists() else LIBRARIES
    given = {
        "PATH": f"{place / 'bin'}:/usr/bin:/bin",
        "PKG_CONFIG_PATH": str(library / "pkgconfig"),
        "LIBRARY_PATH": str(found),
        "LD_LIBRARY_PATH": str(found),
    }
    return subprocess.run(
        ["bash", "-c", f"ulimit -c unlimited; {line}"], cwd=place,
        env={**os.environ, "CMAKE_GENERATOR": "Ninja", **given, **settings},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


def test_building(place: Path) -> None:
    install, configure, compile_it = CRASH[:3]
    assert run(install, place).returncode == 0
    assert run(configure, place).returncode == 0
    assert run("cmake --build build/arm --target whocall_static -j 2", place).returncode == 0
    assert run(compile_it, place).returncode == 0
    assert "main" in run("./a.out", place).stdout + run("./a.out", place).stderr


def test_rules_ahead(place: Path) -> None:
    assert run(CRASH[3], place).returncode == 0
    assert (place / "product" / "server.whocall").stat().st_size > 500


@pytest.mark.needs(ATTACHING)
def test_receivers(place: Path) -> None:
    with_program, alone = CRASH[4:6]
    ran = run(with_program, place)
    assert ran.returncode == 128 + 11
    assert len(list((place / "crashes").glob("server-*.txt"))) == 1
    crash = "env LD_PRELOAD=$LIBRARY WHOCALL_CRASH_RECEIVER=$RECEIVER ./server plain"
    ran = run(
        f"timeout -s INT 20 {alone} & sleep 2; {crash}; kill -INT %1; wait %1",
        place,
        LIBRARY=str(PRELOAD),
        RECEIVER=str(place / "user" / "crashes"),
    )
    assert "the report is in" in ran.stderr, ran
    assert len(list((place / "crashes").glob("server-*.txt"))) == 2


@pytest.mark.needs(KERNEL_CORES)
def test_traces(place: Path) -> None:
    both_ends, ran, whole, beginnings, alone = TRACING
    for build, look in ((both_ends, whole), (beginnings, alone)):
        assert run(build, place).returncode == 0
        assert run(ran, place).returncode in (-6, 128 + 6)  # of the shell, or what it became
        (core,) = place.glob("core*")
        told = run(look.replace("core", core.name), place)
        assert told.returncode == 0, told
        assert [name for name in ("main", "work", "leaf", "crash") if name not in told.stdout] == []
        core.unlink()


def test_there_are_no_others() -> None:
    assert len(CRASH) == 6, CRASH
    assert len(TRACING) == 5, TRACING
