"""How backtraces fit screens of some widths, and how they name files, on the command line."""

from __future__ import annotations

import json
import re
import sys
from itertools import dropwhile
from pathlib import Path

import pexpect
import pytest
from programs import Crash, shared
from test_cli import SCRIPT, run

# The names of `go` and of the two `find` are longer than a line of 80 columns has room for; without
# the outer arguments the latter would be one.
TEMPLATES = """
namespace d {
struct one {};
struct two {};
template <typename T> struct key {};
template <typename A, typename B> struct w {
  __attribute__((noinline)) static int go(int n) { *(volatile int *)0 = n; return n; } };
template <typename K, typename V> struct table { static int find(int n); };
using V = key<key<one> >;
template <> __attribute__((noinline)) int table<two, V>::find(int n) {
  return w<V, key<one> >::go(n + 1) + 1; }
template <> __attribute__((noinline)) int table<one, V>::find(int n) {
  return table<two, V>::find(n + 1) + 1; }
}
int main(int count, char **) { return d::table<d::one, d::V>::find(count) + 1; }
"""
WHOLE = [
    "#0 ADDRESS in d::w<d::key<d::key<d::one> >, d::key<d::one> >::go(int) (3) +N from layout"
    " [context]",
    "#1 ADDRESS in d::table<d::two, d::key<d::key<d::one> > >::find(int) (2) +N from layout [cfi]",
    "#2 ADDRESS in d::table<d::one, d::key<d::key<d::one> > >::find(int) (1) +N from layout [cfi]",
    "#3 ADDRESS in main (1) +N from layout [cfi]",
]
GOLDEN = {
    80: [
        "#0 ADDRESS in d::w<...>::go(int) (3) +N from layout [context]",
        "#1 ADDRESS in d::table<d::two, d::key<...> >::find(int) (2) +N",
        " from layout [cfi]",
        "#2 ADDRESS in d::table<d::one, d::key<...> >::find(int) (1) +N",
        " from layout [cfi]",
        "#3 ADDRESS in main (1) +N from layout [cfi]",
    ],
    120: WHOLE,
    0: WHOLE,
}


@pytest.fixture(scope="module")
def crash() -> Crash:
    return shared("layout", TEMPLATES, "-O1 -w -x c++ -fno-optimize-sibling-calls -fno-exceptions")


def lines(crash: Crash, *options: str) -> list[str]:
    return frames_in(run("bt", str(crash.core), str(crash.twin), *options).stdout)


def frames_in(out: str) -> list[str]:
    """What stands below what happened."""
    return list(dropwhile(lambda line: not line.startswith(("#", "{")), out.splitlines()))


def plain(found: list[str]) -> list[str]:
    """Without what hangs on the machine."""
    told = [re.sub(r"0x[0-9a-f]{16}", "ADDRESS", line) for line in found]
    told = [re.sub(r"\+\d+\b", "+N", line).replace(".twin", "") for line in told]
    return [re.sub(r" +", " ", line) for line in told]


@pytest.mark.parametrize("width", GOLDEN)
def test_what_fits_the_screen(crash: Crash, width: int) -> None:
    found = lines(crash, "--width", str(width))
    assert plain(found) == GOLDEN[width]
    if width:
        assert len({len(line) for line in found if line.endswith("]")}) == 1
        assert max(map(len, found)) < width


def test_what_goes_elsewhere_has_whole_lines(crash: Crash) -> None:
    whole = lines(crash)
    assert whole == lines(crash, "--width", "0")
    assert plain(whole) == plain(lines(crash, "--width", "9" * 18)) == WHOLE


@pytest.mark.parametrize("width", [80, 120])
def test_on_a_terminal(crash: Crash, width: int) -> None:
    # The terminal has its size from the other side, which may come later than the program looks;
    # readline, which pytest loads, tells children the size of its own.
    command = [sys.executable, str(SCRIPT), "bt", str(crash.core), str(crash.twin)]
    begins = f'unset COLUMNS LINES; stty cols {width}; exec "$@"'
    child = pexpect.spawn(
        "sh", ["-c", begins, "sh", *command, "--color", "never"],
        dimensions=(24, width), encoding="utf-8", timeout=60,
    )  # fmt: skip
    child.expect(pexpect.EOF)
    assert child.before is not None
    assert plain(frames_in(child.before)) == GOLDEN[width]


def test_json_knows_no_screen(crash: Crash) -> None:
    documents = [lines(crash, "--json", *more) for more in ((), ("--width", "20"))]
    assert documents[0] == documents[1]
    frames = json.loads("\n".join(documents[0]))["threads"][0]["frames"]
    assert frames[0]["function"] == "d::w<d::key<d::key<d::one> >, d::key<d::one> >::go(int)"
    assert frames[0]["module"].startswith("/")


def test_whole_paths_of_modules_where_they_are_wanted(crash: Crash) -> None:
    found = lines(crash, "--filename-display", "absolute")
    assert all(f" from {crash.exe.parent}/layout" in line for line in found)
    assert plain(lines(crash, "--filename-display", "basename")) == WHOLE
    refused = run("bt", str(crash.core), "--filename-display", "short")
    assert refused.returncode == 2
    assert re.search("relative.*basename.*absolute", refused.stderr)


def test_sources_are_as_debug_info_has_them() -> None:
    source = "int main(void) { *(volatile int *)0 = 1; return 0; }"
    crash = shared("one-line", source, "-O1 -g -w")
    named = json.loads("\n".join(lines(crash, "--json")))["threads"][0]["frames"][0]["source"]
    path = Path(named["file"])
    assert f" at {path}:1 " in lines(crash)[0]
    assert f" at {path.name}:1 " in lines(crash, "--filename-display", "basename")[0]
