"""After `whocall repair` gdb's own frames of a core show what functions were handed: the values
that gdb shows of the program with debug info, or none; and of another process nothing.
"""

from __future__ import annotations

import json
import re
import struct
import subprocess
from pathlib import Path
from typing import Optional

import pytest
from acceptance.helpers.rust_programs import RUSTC
from corpus.crash import crash
from mi_session import MiSession
from programs import Crash, compiled, shared
from sessions import SCRIPT, batch

REPAIR = "whocall repair"
PROGRAM = r"""
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#define OUT_OF_LINE __attribute__((noinline, noclone))
struct order { const char *name; long amount; };
volatile int calls;
static pthread_barrier_t started;
OUT_OF_LINE int deepest(struct order *orders, int n, const char *why) {
  calls += n; if (why) abort(); return orders[n].amount + 1; }
OUT_OF_LINE int middle(struct order *orders, int n, long limit, unsigned char kind) {
  int found = deepest(orders, n + 1, "late");
  return found + limit * kind + orders->amount + n; }
OUT_OF_LINE int deposit(int account, long amount) {
  pthread_barrier_wait(&started);
  while (calls < 1000000) pause();
  return account + amount + calls; }
OUT_OF_LINE void *teller(void *account) {
  return (void *)(long)(deposit((int)(long)account, -1000 * (long)account) + 1); }
int main(int argc, char **argv) {
  static struct order orders[4] = {{"a", 1}, {"b", 2}};
  pthread_t thread;
  pthread_barrier_init(&started, 0, 3);
  for (long i = 1; i < 3; i++) pthread_create(&thread, 0, teller, (void *)(i + argc * 10));
  pthread_barrier_wait(&started);
  usleep(100000);
  return middle(orders, argc, 1L << 30, 200) + (argv != 0); }
"""
# Aligned on i386: `teller`, whose address alone is taken, begins by lowering the stack pointer, as
# cold parts there may, of which no arguments are told. -O1 aligns it by chance alone.
FORMS = {
    "O0": "-O0 -g -w -pthread",
    "O1": "-O1 -g -w -pthread",
    "O2": "-O2 -g -w -pthread",
    "without tables": "-O2 -g -w -pthread -fno-asynchronous-unwind-tables -fomit-frame-pointer",
    "i386": "-O1 -g -w -pthread -m32 -falign-functions=16",
}
OWN = ("deepest", "middle", "deposit", "teller", "main")
# Of the fifteen values that these frames have, those that debug info and we both tell.
LEAST = {"O0": 15, "O1": 13, "O2": 10, "without tables": 10, "i386": 15}

# Of each frame: its thread and pc, and of each argument a number, or None for one without a value.
LOOK = """
import json
def value_of(frame, symbol):
    value = frame.read_var(symbol)
    if value.is_optimized_out:
        return None
    mask = (1 << 8 * value.type.sizeof) - 1
    return int(value.cast(gdb.lookup_type("long long"))) & mask
found = []
for thread in sorted(gdb.selected_inferior().threads(), key=lambda each: each.num):
    thread.switch()
    frame = gdb.newest_frame()
    while frame:
        block = frame.block() if frame.function() else ()
        values = [value_of(frame, each) for each in block if each.is_argument]
        found.append([thread.ptid[1], frame.pc(), frame.name(), values])
        frame = frame.older()
print("<told>" + json.dumps(found))
"""
Told = dict[tuple[int, int], tuple[str, list[Optional[int]]]]


@pytest.fixture(scope="module")
def look(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("look") / "look.py"
    path.write_text(LOOK)
    return path


def program(form: str) -> Crash:
    return shared(f"handed-{form}", PROGRAM, FORMS[form])


def told(look: Path, commands: list[str], *files: Path) -> Told:
    """By thread and pc the function, and its arguments."""
    said = batch([*commands, f"source {look}"], files)
    assert "<told>" in said.out, said
    found = json.loads(said.out.split("<told>")[1].splitlines()[0])
    return {(lwp, pc): (name, values) for lwp, pc, name, values in found}


@pytest.mark.parametrize("form", FORMS)
def test_the_values_are_those_of_debug_info(form: str, look: Path) -> None:
    """No function of the program changes a parameter: each value is that on entry as well."""
    crash = program(form)
    truth = told(look, [], crash.twin, crash.core)
    ours = told(look, [REPAIR], crash.exe, crash.core)
    equal = 0
    for at, (name, values) in truth.items():
        if name not in OWN:
            continue
        shown = ours[at][1] if at in ours else []
        for value, mine in zip(values, shown):
            if mine is not None and value is not None:
                narrower = (1 << 32) - 1 if form == "i386" or mine < 1 << 32 else (1 << 64) - 1
                assert mine & narrower == value & narrower, (name, values, shown)
                equal += 1
        assert len(shown) <= len(values), (name, values, shown)
    assert equal >= LEAST[form], (equal, truth, ours)


def test_threads_have_values_of_their_own(look: Path) -> None:
    crash = program("O1")
    found = told(look, [REPAIR], crash.exe, crash.core)
    low = (1 << 32) - 1  # the function reads no more of the second
    handed = {tuple((each or 0) & low for each in values) for _, values in found.values()}
    assert {(11, -11000 & low), (12, -12000 & low)} <= handed, handed


def shown(commands: list[str], *files: Path) -> str:
    said = batch(commands, files)
    assert said.status == 0, said
    return said.out


def test_it_reads_as_gdb_writes() -> None:
    crash = program("O1")
    commands = ["set width 0", "thread apply 1 bt", "frame function deepest"]
    out = shown([REPAIR, *commands[:2]], crash.exe, crash.core)
    frame = re.search(r'in \S+ \(a1=0x\w+, a2=2, a3=0x\w+ "late"\)', out)
    assert frame, out
    assert re.search(
        r"^arguments of \d+ functions: a1, a2, ... in gdb's frames$", out, re.MULTILINE
    )


CHECK = """
import subprocess
for one in gdb.objfiles():
    if one.owner is None and one.filename.endswith(".symbols"):
        line = ["eu-readelf", "--debug-dump=info", "--debug-dump=abbrev", one.filename]
        ran = subprocess.run(line, capture_output=True, text=True)
        print("<read>", ran.returncode, ran.stderr, ran.stdout.count("formal_parameter"))
"""


def test_others_read_the_same_file(tmp_path: Path) -> None:
    crash, check = program("O1"), tmp_path / "check.py"
    check.write_text(CHECK)
    out = shown([REPAIR, f"source {check}"], crash.exe, crash.core)
    (read,) = re.findall("^<read> (.*)$", out, re.MULTILINE)
    status, count = read.split()
    assert status == "0" and int(count) > 8, read


def test_nothing_is_left_when_it_is_taken_back(look: Path) -> None:
    crash = program("O1")
    bare = told(look, [], crash.exe, crash.core)
    assert told(look, [REPAIR, "whocall revert"], crash.exe, crash.core) == bare
    objfiles = "python print([o.filename for o in gdb.objfiles() if 'symbols' in str(o.filename)])"
    assert "[]" in shown([REPAIR, "whocall revert", objfiles], crash.exe, crash.core)


@pytest.mark.parametrize("close", ["core-file {core}", "detach", "core-file"])
def test_they_go_with_the_core(close: str, look: Path) -> None:
    """Of another process, or of the same one at another time, the values are others."""
    crash = program("O1")
    again = [f"core-file {crash.core}"] * (close in ("detach", "core-file"))
    commands = [REPAIR, close.format(core=crash.core), *again]
    found = told(look, commands, crash.exe, crash.core)
    own = [values for name, values in found.values() if name.startswith("sub_")]
    assert own and not any(own)


def test_a_program_that_runs_in_its_place_has_none() -> None:
    crash = program("O1")
    start = ["set startup-with-shell off", "set confirm off"]
    commands = [*start, REPAIR, "run", "bt", REPAIR, "bt", "kill"]
    out = shown(commands, crash.exe, crash.core)
    assert out.count("a1=") == 0, out


def test_another_inferior_is_not_told() -> None:
    crash = program("O1")
    commands = [REPAIR, "add-inferior -no-connection", "inferior 2", f"file {crash.exe}",
                f"core-file {crash.core}", "echo <two>\\n", "bt", "inferior 1", "echo <one>\\n",
                "bt"]  # fmt: skip
    out = shown(commands, crash.exe, crash.core)
    second, first = out.split("<two>\n")[1].split("<one>\n")
    assert "a1=" not in second
    assert "a1=" in first


DIFFERENT = r"""
#include <stdlib.h>
#define OUT_OF_LINE __attribute__((noinline, noclone))
struct order { const char *name; long amount; } static orders[2] = {{"a", 1}, {"b", 2}};
volatile int calls;
OUT_OF_LINE long text_alone(const char *text, long n);
OUT_OF_LINE long of_both(const void *thing, long n) {
  calls++; return n == 1 ? text_alone(0, 5) : of_both(n & 1 ? (const void *)orders : "text", n - 1)
                                               + *(const char *)thing; }
OUT_OF_LINE long text_alone(const char *text, long n) {
  calls++; if (n == 0) abort(); return text_alone(n & 1 ? "some" : 0, n - 1) + (text ? *text : 0); }
int main(void) { return of_both("first", 6) + calls; }
"""


def test_a_text_is_one_in_each_call() -> None:
    """gdb prints what lies at the address, text or not."""
    crash = shared("handed-different", DIFFERENT, "-O1 -w -pthread")
    out = shown([REPAIR, "set width 0", "bt"], crash.exe, crash.core)
    values = re.findall(r" in sub_\w+ \(a1=(.*), a2=\d+\)$", out, re.MULTILINE)
    texts = [value for value in values if '"' in value]
    assert [value.split()[1] for value in texts] == ['"some"'] * 2, out
    assert values.count("0x0") == 3 and values.count("<optimized out>") == 2, out
    assert sum(value.startswith("0x5") for value in values) == 7 and len(values) == 12, out


CXX = r"""
#include <cstdlib>
#define OUT_OF_LINE __attribute__((noinline, noclone))
volatile int calls;
namespace shop {
template <class T> OUT_OF_LINE int count(T coins, const char *what) {
  calls += coins; if (what) abort(); return coins; }
struct Till { OUT_OF_LINE int close(int coins); };
OUT_OF_LINE int Till::close(int coins) { return count(coins + 2, "coins") + calls; }
}
int main(int argc, char **argv) { shop::Till till; return till.close(argc) + calls; }
"""
RUST = r"""
#[inline(never)] fn count(coins: &mut Vec<u32>, most: usize) -> u32 {
    if coins.len() > most { std::process::abort() } coins.push(1); coins[0] }
struct Till { coins: Vec<u32> }
impl Till {
    #[inline(never)] fn close(&mut self, n: usize) -> u32 { count(&mut self.coins, n) + 1 } }
fn main() {
    let mut till = Till { coins: vec![7; std::env::args().count() + 4] };
    println!("{}", till.close(2)); }
"""
LANGUAGES = {
    "C++": ("cpp", CXX, ["g++", "-O1", "-w"], r"shop::count<int> \(a1=3, a2=0x\w+ \"coins\"\)"),
    "Rust": ("rs", RUST, [RUSTC, "-O"], r"names::count \(a1=0x\w+\)"),
    "Rust, v0": ("rs", RUST, [RUSTC, "-O", "-Csymbol-mangling-version=v0"],
                 r"names::count \(a1=0x\w+\)"),
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_are_as_their_authors_wrote_them(language: str, tmp_path: Path) -> None:
    ending, source, compiler, wanted = LANGUAGES[language]
    text, exe = tmp_path / f"names.{ending}", tmp_path / "names"
    text.write_text(source)
    subprocess.run([*compiler, "-o", exe, text], check=True)
    core = crash(exe, tmp_path).core
    out = shown(["set width 0", REPAIR, "bt"], exe, core)
    assert re.search(wanted, out), out


WRONG = r"""
#include <stdlib.h>
#define OUT_OF_LINE __attribute__((noinline, noclone))
volatile int calls;
OUT_OF_LINE int inner(const char *text, int n) { calls += n; if (text) abort(); return n; }
OUT_OF_LINE int outer(int n) { return inner("text", n + 1) + calls; }
int main(int argc, char **argv) { return outer(argc) + calls; }
"""


def test_what_a_symbol_table_says_of_sizes_and_names_is_data(tmp_path: Path) -> None:
    """A function that claims all code does not give others its name, and no name is obeyed."""
    exe = compiled(tmp_path, "wrong", WRONG, "-O1 -w")
    data = bytearray(exe.read_bytes())
    entry = struct.Struct("<IIQQQQIIQQ")  # of section headers, whose place stands at byte 40
    (headers,) = struct.unpack_from("<Q", data, 40)
    count = struct.unpack_from("<H", data, 60)[0]
    sections = [entry.unpack_from(data, headers + at * entry.size) for at in range(count)]
    table = next(each for each in sections if each[1] == 2)
    names = sections[table[6]][4]
    for at in range(table[4], table[4] + table[5], 24):
        name = names + struct.unpack_from("<I", data, at)[0]
        if data[name : name + 6] in (b"inner\0", b"outer\0"):
            struct.pack_into("<Q", data, at + 16, (1 << 47) - 1 - 256 * (data[name] == ord("o")))
        if data[name : name + 6] == b"outer\0":
            data[name : name + 5] = b"o\n#\x1bX"
    exe.write_bytes(data)
    core = crash(exe, tmp_path).core
    out = shown(["set width 0", REPAIR, "bt"], exe, core)
    assert re.search(r' in inner \(a1=0x\w+ "text", a2=2\)\n.* in o\\n#\\x1bX \(a1=1\)\n', out), out
    assert re.search(r" in main \(a1=1\)\n", out), out


def test_an_editor_gets_them() -> None:
    crash = program("O1")
    with MiSession([crash.exe, crash.core]) as session:
        session.console(f"source {SCRIPT}")
        session.console(REPAIR)
        listed = session.ask("-stack-list-arguments --all-values")
    assert "'name': 'a1'" in str(listed), listed


def test_settings_of_gdb_are_obeyed() -> None:
    crash = program("O1")
    out = shown([REPAIR, "set print frame-arguments presence", "bt"], crash.exe, crash.core)
    assert "(...)" in out and "a1=" not in out


def test_the_selected_frame_stays() -> None:
    """gdb forgets it with each file that it is given, and with each that is taken from it."""
    crash = program("without tables")
    wanted = ["frame 2", REPAIR, "echo {after}\\n", "frame", "whocall revert", "frame"]
    said = batch(wanted, [crash.exe, crash.core])
    assert "arguments of " in said.out, said
    assert len(re.findall(r"^#2 ", said.out.split("{after}")[1], re.MULTILINE)) == 2, said
