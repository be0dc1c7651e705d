"""Programs of any standard take the headers, with every warning; static ones take the library."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest

from runtime.lab import LIBRARIES, NATIVE

USES = """
#include "whocall.h"
#include "trace/whocall_trace.h"
int main(void) {
  whocall_crash_options options = WHOCALL_CRASH_OPTIONS;
  return whocall_install(&options) + (int)whocall_trace_count();
}
"""
ASKS = """
#include "whocall.h"
__attribute__((noinline)) static void asks(void) { who_call_me(0); __asm__(""); }
int main(void) { whocall_prepare(); asks(); return whocall_install(0); }
"""
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-fsyntax-only")
STANDARDS = [
    *itertools.product(("gcc", "clang"), ("c89", "c99", "c11", "c17")),
    *itertools.product(("g++", "clang++"), ("c++98", "c++11", "c++17", "c++20", "c++2b")),
]


@pytest.mark.parametrize(("compiler", "standard"), STANDARDS)
def test_the_headers(tmp_path: Path, compiler: str, standard: str) -> None:
    source = tmp_path / ("uses.cpp" if "++" in compiler else "uses.c")
    source.write_text(USES)
    command = [compiler, f"-std={standard}", *WARNINGS, f"-I{NATIVE}/runtime", str(source)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("gcc", "-static-pie"),
        ("gcc", "-static", "-no-pie"),
        ("musl-gcc", "-static"),
        ("musl-gcc",),
    ],
    ids=" ".join,
)
def test_the_static_library(tmp_path: Path, command: tuple[str, ...]) -> None:
    """In programs of both C libraries, each with the index of its unwind tables."""
    (tmp_path / "asks.c").write_text(ASKS)
    words = [*command, tmp_path / "asks.c", f"-I{NATIVE}/runtime", LIBRARIES / "libwhocall.a"]
    words += ["-O1", "-Wl,--eh-frame-hdr", "-o", tmp_path / "asks"]
    subprocess.run([str(word) for word in words], check=True, capture_output=True)
    said = subprocess.run([tmp_path / "asks"], capture_output=True, text=True, check=True)
    assert said.stderr.startswith("main+0x")
    assert " called asks+0x" in said.stderr
