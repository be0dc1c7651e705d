"""Places in the source that stripped code names itself: __FILE__ and __LINE__ of assertions and
loggers, and the places of Rust's panics. The oracle is addr2line on the twin with debug info.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from corpus.crash import crash
from oracles.tools import environment, run

import whocall
from acceptance.helpers import name_twins, rust_programs
from acceptance.helpers.scoreboard import Scoreboard
from whocall.base.native_module import native

ROOT = Path(__file__).resolve().parents[3]
KEEP = "__attribute__((noinline, noclone))"
_CALL = re.compile(r" +([0-9a-f]+):\t(?:notrack |bnd )?call")

PROGRAM = f"""
# 1 "src/core.c"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
{KEEP} void report(int level, const char *file, int line, const char *text) {{
  if (level > atoi("3")) fprintf(stderr, "%s:%d: %s", file, line, text);
}}
{KEEP} int silent(int x) {{ return x * atoi("3"); }}
# 1 "include/checks.h"
static inline __attribute__((always_inline)) void check(int x) {{
  if (x == 99) report(1, __FILE__, __LINE__, "from the header");
}}
# 100 "src/x509/verify.c"
static {KEEP} int verify(int x) {{
  if (x == 77)
    report(2, __FILE__, __LINE__, "bad");
  x = silent(x);
  assert(x != 5);
  return silent(x + 1);
}}
static {KEEP} int only_header(int x) {{
  check(x);
  return silent(x) + 1;
}}
# 30 "src/dump.c"
static {KEEP} int fail(int x) {{
  x = silent(x);
  assert(x == -1);
  return x;
}}
static {KEEP} int opens(int x) {{
  FILE *file = fopen("src/other.c", "r");
  return file ? silent(x) : silent(x) + 2;
}}
int main(int argc, char **argv) {{
  (void)argv;
  return verify(argc) + only_header(argc) + opens(argc) + fail(argc + 3);
}}
"""


@dataclass(frozen=True)
class Told:
    """What is told of one call."""

    address: int
    function: str  # by addr2line, the one that holds all
    chain: tuple[str, ...]  # files by addr2line, innermost first
    near: tuple[str, int] | None
    hints: tuple[tuple[str, int], ...]


def calls_of(twin: Path, bare: Path) -> Iterator[Told]:
    """Every call of the program, and what is told of it once it is stripped."""
    listing = run(["objdump", "-d", "-j", ".text", "--no-show-raw-insn", str(twin)])
    calls = [int(each[1], 16) for each in map(_CALL.match, listing.splitlines()) if each]
    text = "\n".join(f"{each:#x}" for each in calls)
    command = ["addr2line", "-a", "-i", "-f", "-C", "-e", str(twin)]
    ran = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    names = native.FileNames(str(bare))
    for block in re.split(r"(?m)^(?=0x[0-9a-f]+$)", ran.stdout)[1:]:
        head, *lines = block.splitlines()
        address = int(head, 16)
        hints = names.describe(address).source_hints
        near = [(file, line) for file, line, *_, is_near in hints if is_near]
        assert len(near) <= 1
        yield Told(
            address,
            lines[-2],
            tuple(each.rpartition(":")[0] for each in lines[1::2]),
            near[0] if near else None,
            tuple((file, line) for file, line, *_ in hints),
        )


def is_same(told: str, true: str) -> bool:
    """Whether both paths are of one file: one of them may be short of its first folders."""
    return true.endswith(told.removeprefix("./")) or told.endswith(true.removeprefix("./"))


@pytest.mark.parametrize(
    "flags",
    ["-O2", "-O1", "-O0", "-Os", "-O2 -no-pie -fno-pie", "-O2 -fcf-protection", "-O2 -m32 -no-pie"],
)  # fmt: skip
def test_assertions_and_loggers(flags: str, tmp_path: Path) -> None:
    twin = name_twins.build(tmp_path, *flags.split(), source=PROGRAM)
    told = list(calls_of(twin, name_twins.stripped(twin)))
    for each in told:
        if each.near is not None:
            assert any(is_same(each.near[0], file) for file in each.chain), each
    of: dict[str, list[Told]] = {}
    for each in told:
        of.setdefault(each.function, []).append(each)
    for function, file, lines in (
        ("verify", "src/x509/verify.c", {102, 104}),
        ("fail", "src/dump.c", {32}),
    ):
        assert {each.near and each.near[0] for each in of[function]} == {file}
        assert {line for each in of[function] for _, line in each.hints} == lines
    reports = [each for each in of["only_header"] if each.near is not None]
    assert {each.near for each in reports} <= {("include/checks.h", 2)}
    assert len(reports) <= 1, "a header says nothing of who includes it"
    assert not any(each.hints for each in of["opens"]), "a file that is read is no place"


def test_who_has_places_of_two_files_is_silent(tmp_path: Path) -> None:
    source = f"""
    # 1 "a.c"
    #include <stdio.h>
    #include <stdlib.h>
    {KEEP} void report(const char *file, int line) {{ fprintf(stderr, "%s:%d", file, line); }}
    {KEEP} int both(int x) {{
      if (x == 7) report("a.c", 3);
      if (x == 8) report("b.c", 4);
      return atoi("3") + x;
    }}
    int main(int argc, char **argv) {{ (void)argv; return both(argc); }}
    """.replace("\n    ", "\n")
    twin = name_twins.build(tmp_path, "-O2", source=source)
    told = [each for each in calls_of(twin, name_twins.stripped(twin)) if each.function == "both"]
    assert {each.hints for each in told} == {(("a.c", 3), ("b.c", 4))}
    exact = [each.near for each in told if each.near is not None]
    assert exact in ([("a.c", 3), ("b.c", 4)], [("b.c", 4), ("a.c", 3)], [])
    assert any(each.near is None for each in told)


def test_a_backtrace_tells_them(tmp_path: Path) -> None:
    twin = name_twins.build(tmp_path, "-O2", source=PROGRAM)
    bare = name_twins.stripped(twin)
    core = crash(bare, tmp_path).core
    command = [sys.executable, str(ROOT / "gdbext" / "whocall.py"), "bt", str(core), str(bare)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert re.search(r"in sub_[0-9a-f]+ .* near src/dump\.c:32\? from bare +\[cfi\]", text)
    said = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout
    frames = json.loads(said)["threads"][0]["frames"]
    hints = [hint for frame in frames for hint in frame["source_hints"]]
    assert {"src/dump.c"} == {hint["file"] for hint in hints if hint["near"]}
    assert {hint["crate"] for hint in hints} == {None}
    with whocall.open_core(str(core), str(bare)) as image:
        ours = image.report().threads[0].frames
        assert [len(frame.source_hints) for frame in ours] == [
            len(frame["source_hints"]) for frame in frames
        ]
    with whocall.open_core(str(core), str(twin)) as image:
        known = [frame for frame in image.report().threads[0].frames if frame.line is not None]
        assert known
        assert not any(frame.source_hints for frame in known), "a line is known"


@pytest.mark.parametrize("panic", ["unwind", "abort"])
def test_rust(panic: str, tmp_path: Path, scoreboard: Scoreboard) -> None:
    """What is told lies in a file of the function, or of what is inlined right there."""
    twin = rust_programs.build(tmp_path, "legacy", panic, "-g")
    bare = name_twins.stripped(twin)
    told = list(calls_of(twin, bare))
    wrong = [each for each in told if each.near is not None
             and not any(is_same(each.near[0], file) for file in each.chain)]  # fmt: skip
    near = sum(each.near is not None for each in told)
    scoreboard.table(
        "places in the source by the panics of Rust, at each call", "panic", "told", "wrong"
    ).rows.append((panic, near, len(wrong)))
    assert not wrong
    own = {each.near[0] for each in told if each.near is not None}
    assert any(file.endswith("panics.rs") for file in own)
    assert not any("/library/" in file for file in own), "of the standard library nothing is told"
    listed = {file for each in told for file, _ in each.hints}
    assert any("library/" in file for file in listed), "but listed"


CRATE = """
#[inline(always)]
pub fn pick(from: &[u64], at: usize) -> u64 { from[at] + 1 }
"""
FILES = {
    "helper-1.2.3/src/lib.rs": CRATE,
    "src/main.rs": """
mod table;
mod tree;
fn main() {
    let words: Vec<String> = std::env::args().collect();
    println!("{}", table::sum(&[1, 2, 3], words.len()) + tree::sum(&[4, 5, 6], words.len()));
}
""",
    "src/table.rs": """
#[inline(never)]
pub fn seen(value: u64) -> u64 { unsafe { std::ptr::read_volatile(&value) } }
#[inline(never)]
pub fn sum(from: &[u64], at: usize) -> u64 {
    let first = from[at];
    seen(first) + seen(from[at + (first as usize & 1)]) + seen(helper::pick(from, at))
}
""",
    "src/tree.rs": """
#[inline(never)]
pub fn sum(from: &[u64], at: usize) -> u64 {
    let value = crate::table::seen(helper::pick(from, at));
    crate::table::seen(value) + 2
}
""",
}


def test_a_crate_that_is_inlined_says_nothing_of_who_inlines_it(tmp_path: Path) -> None:
    for name, contents in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(contents)
    flags = [rust_programs.RUSTC, "--edition=2021", "-O", "-g", "-C", "codegen-units=1"]
    crate = tmp_path / "helper-1.2.3" / "src" / "lib.rs"
    for more in (
        ["--crate-type=rlib", "--crate-name=helper", "-o", "libhelper.rlib", str(crate)],
        ["--crate-name=twin", "--extern", "helper=libhelper.rlib", "-o", "twin", "src/main.rs"],
    ):
        subprocess.run([*flags, *more], cwd=tmp_path, env=environment(), check=True)
    twin = tmp_path / "twin"
    bare = name_twins.stripped(twin)
    told = list(calls_of(twin, bare))
    of: dict[str, list[Told]] = {}
    for each in told:
        of.setdefault(each.function, []).append(each)
    in_table, in_tree = of["twin::table::sum"], of["twin::tree::sum"]
    seen = {each.near[0] for each in in_table if each.near is not None}
    assert "src/table.rs" in seen
    assert seen <= {"src/table.rs", str(crate)}, "the crate's place is that of its own call alone"
    assert all(
        each.near is None or each.address == max(call.address for call in in_tree)
        for each in in_tree
    ), "nothing but what is inlined names a place"
    names = native.FileNames(str(bare))
    hints = [hint for each in in_tree for hint in names.describe(each.address).source_hints]
    assert (str(crate), "helper", None) in {(hint[0], hint[4], hint[5]) for hint in hints}
