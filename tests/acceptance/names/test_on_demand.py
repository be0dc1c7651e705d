"""Names inferred for one function at a time are those that a look through the whole file finds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from oracles import nm_table

LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
# C with messages and parts put elsewhere, C++ with classes, at fixed addresses, without tables.
FILES = (LIBRARIES / "libgnutls.so.30", LIBRARIES / "libstdc++.so.6", Path("/usr/bin/gdb"))
MARKED = ("entry", "vtable", "message", "registration", "initializer", "part")

WHOLE = """
import json, sys
from whocall.base.native_module import native
table = native.functions(sys.argv[1])
json.dump([table[at][:4] for at in range(len(table))], sys.stdout)
"""
SINGLE = """
import json, sys
from whocall.base.native_module import native
names = native.open_file(sys.argv[1])
found = []
for start in json.load(sys.stdin):
    place = names.describe(start, demangle=False, refused=False)
    found.append((place.function, place.name_source))
json.dump(found, sys.stdout)
"""
PROGRAM = """
#include <assert.h>
void __assert_fail(const char *, const char *, unsigned, const char *) __attribute__((cold));
const char pad[1 << 20] = {1};  /* facts are kept of large files only */
__attribute__((noinline)) static int plain(int x) { __asm__ volatile(""); return 3 * x + 1; }
volatile int seen;  /* moves the next function's cold part to where no function begins */
__attribute__((noinline)) static int first(int x) {
  if (x == 4) { seen = x; assert(0); }
  return x + 5;
}
__attribute__((noinline)) static int checked(int x) { assert(x != 5); return x + 2; }
int main(int count, char **words) {
  return plain(count) + first(count) + checked(count) + pad[count];
}
"""


def told(script: str, path: Path, cache: str | Path, asked: list[int] | None = None) -> Any:
    """What a process of its own prints."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    if cache == "off":
        environment["WHOCALL_CACHE"] = "off"
    package = str(Path(__file__).resolve().parents[3] / "gdbext")
    environment["PYTHONPATH"] = package
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        env=environment,
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_single_names_are_those_of_the_whole_file(path: Path) -> None:
    """Each function is asked for alone; what a source says of it only when asked for all fails."""
    whole = {
        start: (name, source)
        for start, _, name, source in told(WHOLE, path, "off")
        if source in MARKED or name.startswith("sub_") or not name
    }
    starts = sorted(whole)
    single = told(SINGLE, path, "off", starts)
    assert sum(source in MARKED for _, source in whole.values()) > 100
    wrong = []
    for start, (name, source) in zip(starts, single):
        expected = whole[start] if whole[start][1] in MARKED else None
        got = (name, source) if source in MARKED else None
        if got != expected:
            wrong.append((hex(start), got, expected))
    assert not wrong


def made(folder: Path, *flags: str) -> tuple[Path, dict[str, int]]:
    """The program without symbols, and where its functions start."""
    source, twin, bare = (folder / name for name in ("prog.c", "twin", "bare"))
    source.write_text(PROGRAM, encoding="ascii")
    subprocess.run(["gcc", *flags, "-o", str(twin), str(source)], check=True)
    subprocess.run(["strip", "-o", str(bare), str(twin)], check=True)
    return bare, {each.name: each.address for each in nm_table.symbols(twin)}


def test_texts_of_a_part_that_lies_elsewhere_count(tmp_path: Path) -> None:
    """gcc moves what never returns out of its function: the function itself takes no text."""
    bare, start = made(tmp_path, "-O2")
    for name in ("checked", "checked.cold"):
        assert told(SINGLE, bare, "off", [start[name]]) == [[name, "message"]]


def kinds(cache: Path) -> set[str]:
    """What is kept in a cache directory."""
    return {each.name.split("-", 2)[2] for each in (cache / "whocall" / "facts").glob("*.facts")}


def test_a_function_that_shows_nothing_needs_no_look_through_the_file(tmp_path: Path) -> None:
    """What a source finds in the whole file is kept: so what is kept tells where it looked."""
    bare, start = made(tmp_path, "-O1")
    cache = tmp_path / "cache"
    cache.mkdir()
    [(name, how)] = told(SINGLE, bare, cache, [start["plain"]])
    assert (name, how) == (f"sub_{start['plain']:x}", "fde")
    assert kinds(cache) == set()
    for _ in range(2):  # found, and read again
        assert told(SINGLE, bare, cache, [start["checked"]]) == [["checked", "message"]]
        assert kinds(cache) == {"message-names.facts", "starts.facts"}
    for kept in (cache / "whocall" / "facts").glob("*-message-names.facts"):
        contents = bytearray(kept.read_bytes())
        contents[-1] ^= 1
        kept.write_bytes(contents)
    assert told(SINGLE, bare, cache, [start["checked"]]) == [["checked", "message"]]
