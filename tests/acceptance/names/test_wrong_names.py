"""The situations in which debuggers print a wrong name with confidence: ours is true, or is none.

Beside it stands, in the table below the results, what gdb, lldb and eu-stack print on the same
stripped file and core. The truth is gdb's word on the unstripped twin, and nm's.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from corpus.crash import crash
from oracles import eu_stack, gdb_bt, lldb_bt, nm_table
from oracles.linkers import FOLDING
from oracles.tools import run

import whocall
from acceptance.helpers import name_twins
from acceptance.helpers.scoreboard import Scoreboard
from whocall import Frame
from whocall.base.process_image import Walk

ROOT = Path(__file__).resolve().parents[3]

CHAIN = r"""
static int *nowhere;
static int __attribute__((noinline)) middle(int value) { return CALLED(nowhere, value) + 2; }
int __attribute__((noinline)) outer(int value) { return middle(value) + 3; }
int main(int count, char **words) { (void)words; return outer(count) + 4; }
"""

ZERO_SIZE = r"""
__asm__(".text\n.globl quick_add\n.type quick_add,@function\n"
        "quick_add: lea (%rdi,%rsi), %eax\nret\n.p2align 4\n");
static int __attribute__((noinline)) hidden(int *where, int value) { *where = value; return 1; }
#define CALLED hidden
""" + CHAIN  # fmt: skip

BEHIND_EXPORT = r"""
int __attribute__((noinline)) exported(int *where, int value) { return where ? *where : value; }
static int __attribute__((noinline)) hidden(int *where, int value) { *where = value; return 1; }
#define CALLED hidden
""" + CHAIN  # fmt: skip

FOLDED = r"""
int __attribute__((noinline)) price_of_apple(int *where, int value) { return *where = value; }
int __attribute__((noinline)) price_of_pear(int *where, int value) { return *where = value; }
int (*prices[])(int *, int) = {price_of_apple, price_of_pear};
#define CALLED prices[value - 1]
""" + CHAIN  # fmt: skip

NO_RETURN = r"""
void __attribute__((noreturn, noinline)) fatal(int *where, int value) {
  *where = value;
  for (;;) __builtin_trap();
}
FIRST int __attribute__((noinline)) last_words(int *where, int value) { fatal(where, value); }
SECOND int __attribute__((noinline, used)) neighbour(int *where) { return *where; }
#define CALLED last_words
""" + CHAIN  # fmt: skip

NO_TABLES = "-fno-asynchronous-unwind-tables -fno-unwind-tables"


@dataclass(frozen=True)
class Situation:
    """A program that crashes in or below the function in question."""

    source: str
    function: str  # its true name
    shown: str | None  # what we say; None: `sub_` and its start
    flags: str = ""
    refused: str = ""  # the symbol that is not meant
    reason: str = ""  # a part of why
    aliases: tuple[str, ...] = ()


SITUATIONS = {
    "zero-size export before a hidden function": Situation(
        ZERO_SIZE, "hidden", None, "-fno-toplevel-reorder",
        "quick_add", "another function begins at"),
    "zero-size export, position-dependent": Situation(
        ZERO_SIZE, "hidden", None, "-fno-toplevel-reorder -no-pie",
        "quick_add", "another function begins at"),
    "zero-size export, no tables": Situation(
        ZERO_SIZE, "hidden", None, f"-fno-toplevel-reorder {NO_TABLES}",
        "quick_add", "another function begins at"),
    "zero-size export, 32 bits": Situation(
        ZERO_SIZE.replace("%rdi,%rsi", "%edi,%esi"), "hidden", None, "-fno-toplevel-reorder -m32",
        "quick_add", "another function begins at"),
    "static function behind an export": Situation(
        BEHIND_EXPORT, "hidden", None, "-fno-toplevel-reorder", "exported", "bytes end at 0x"),
    "static function behind an export, no tables": Situation(
        BEHIND_EXPORT, "hidden", None, f"-fno-toplevel-reorder {NO_TABLES}",
        "exported", "bytes end at 0x"),
    **{f"equal code folded by {linker}": Situation(
        FOLDED, "price_of_apple", "price_of_pear",
        f"-ffunction-sections -fuse-ld={linker} -Wl,--icf=all",
        aliases=("price_of_apple", "price_of_pear")) for linker in FOLDING},
    "noreturn call at the end, both exported": Situation(
        NO_RETURN, "last_words", "last_words", "-falign-functions=1 -DFIRST= -DSECOND="),
    "noreturn call at the end, before an export": Situation(
        NO_RETURN, "last_words", None, "-falign-functions=1 -DFIRST=static -DSECOND=",
        "fatal", "bytes end at 0x"),
    "noreturn call at the end, behind an export": Situation(
        NO_RETURN, "last_words", "last_words", "-falign-functions=1 -DFIRST= -DSECOND=static"),
}  # fmt: skip


@dataclass(frozen=True)
class Made:
    """The stripped program, its twin, its core."""

    twin: Path
    bare: Path
    core: Path

    def true_names(self, address: int) -> set[str]:
        """All names at a link address; mold 2.37 keeps those of folded code in .dynsym alone."""
        found = [*nm_table.symbols(self.twin), *nm_table.symbols(self.twin, dynamic=True)]
        return {each.name for each in found if each.address == address}

    def start_of(self, name: str) -> int:
        """Link address."""
        return next(each.address for each in nm_table.symbols(self.twin) if each.name == name)


def make(situation: Situation, directory: Path) -> Made:
    """Built, stripped and crashed."""
    flags = ["-rdynamic", "-w", "-fno-optimize-sibling-calls", *situation.flags.split()]
    twin = name_twins.build(directory, *flags, source=situation.source)
    bare = name_twins.stripped(twin)
    return Made(twin, bare, crash(bare, directory).core)


def frames_of(made: Made) -> list[Frame]:
    """Ours, of the program itself, with explanations."""
    with whocall.open_core(str(made.core), str(made.bare)) as image:
        walk = Walk(past_main=True, lines=False, explain=True)
        trace = image.report(walk=walk).threads[0]
    return [frame for frame in trace.frames if frame.module == str(made.bare.resolve())]


def symbol_text(made: Made, address: int) -> str:
    """What `whocall symbol` prints of a runtime address of the core."""
    command = [sys.executable, str(ROOT / "gdbext" / "whocall.py"), "symbol"]
    ran = subprocess.run(
        [*command, str(made.core), f"{address:#x}"], capture_output=True, text=True, check=True
    )
    return ran.stdout


def other_words(made: Made, pc: int) -> list[str]:
    """What gdb, lldb and eu-stack call the frame at a pc: `??` is no name, `-` no such frame."""
    by_gdb = gdb_bt.of_core(made.core, made.bare)
    by_eu = eu_stack.of_core(made.core, made.bare)
    words: list[dict[int, str | None]] = [
        {frame.pc: frame.name for thread in by_gdb.values() for frame in thread.frames},
        lldb_bt.names_of_core(made.core, made.bare),
        {frame.pc: frame.name for frames in by_eu.threads.values() for frame in frames},
    ]
    return [(each[pc] or "??") if pc in each else "-" for each in words]


@pytest.mark.parametrize("title", SITUATIONS)
def test_wrong_name_situation(title: str, tmp_path: Path, scoreboard: Scoreboard) -> None:
    situation = SITUATIONS[title]
    made = make(situation, tmp_path)
    truth = gdb_bt.of_core(made.core, made.twin)
    (thread,) = truth.values()
    true = [frame for frame in thread.frames if frame.kind == "normal"]
    ours = frames_of(made)
    start = made.start_of(situation.function)
    assert [frame.pc for frame in ours[:4]] == [frame.pc for frame in true[:4]]
    wrong = [
        f"{frame.shown} at {frame.pc:#x}"
        for frame in ours
        if frame.rva is not None and frame.offset is not None
        and frame.function not in {f"sub_{frame.rva - frame.offset:x}",
                                   *made.true_names(frame.rva - frame.offset)}
    ]  # fmt: skip
    assert not wrong
    meant = [frame for frame in ours if frame.rva is not None and frame.offset is not None
             and frame.rva - frame.offset == start]  # fmt: skip
    assert len(meant) == 1, "the function in question is one frame"
    shown = situation.shown or f"sub_{start:x}"
    assert meant[0].function == shown
    assert meant[0].inferred is False
    _check_explanation(situation, made, meant[0])
    table = scoreboard.table(
        "wrong-name situations: what each debugger calls the function on the stripped file",
        "situation", "in truth", "whocall", "gdb", "lldb", "eu-stack",
    )  # fmt: skip
    table.rows.append((title, situation.function, shown, *other_words(made, meant[0].pc)))


def _check_explanation(situation: Situation, made: Made, frame: Frame) -> None:
    lookup = frame.pc if frame.interrupted else frame.pc - 1
    text = symbol_text(made, lookup)
    assert frame.explanation is not None
    for words in (text, frame.explanation):
        if situation.refused:
            assert situation.refused in words
            assert situation.reason in words
        else:
            assert "nearest symbol" not in words
    if situation.aliases:
        assert {frame.function, *frame.aliases} == set(situation.aliases)
        others = set(situation.aliases) - {frame.function}
        assert all(f"also named {each}" in text for each in others)
        assert all(f"also named {each}" in frame.explanation for each in others)


def test_unnamed_functions_keep_their_names_from_run_to_run(tmp_path: Path) -> None:
    """`sub_` holds the link address: the loader may put the program anywhere."""
    situation = SITUATIONS["static function behind an export"]
    made = make(situation, tmp_path)
    runs = []
    for number in range(3):
        core = crash(made.bare, tmp_path / str(number)).core
        frames = frames_of(Made(made.twin, made.bare, core))
        runs.append([(frame.pc, frame.function, frame.offset) for frame in frames])
    names = {tuple((name, offset) for _, name, offset in run) for run in runs}
    assert len(names) == 1
    assert f"sub_{made.start_of('hidden'):x}" in {name for _, name, _ in runs[0]}
    randomised = Path("/proc/sys/kernel/randomize_va_space").read_text().strip() != "0"
    assert not randomised or len({run[0][0] for run in runs}) > 1


def test_explain_and_json_tell_of_refused_symbols_and_aliases(tmp_path: Path) -> None:
    """What users see of it: `whocall bt --explain`, and the backtrace as JSON."""
    command = [sys.executable, str(ROOT / "gdbext" / "whocall.py"), "bt"]
    hidden, folded = tmp_path / "hidden", tmp_path / "folded"
    hidden.mkdir()
    folded.mkdir()
    made = make(SITUATIONS["zero-size export before a hidden function"], hidden)
    said = run([*command, "--explain", str(made.core), str(made.bare)])
    begins = f"another function begins at {made.start_of('hidden'):#x} (fde)"
    assert "nearest symbol, quick_add (dynsym)" in said
    assert begins in said
    made = make(SITUATIONS["equal code folded by lld"], folded)
    (thread,) = json.loads(run([*command, "--json", str(made.core), str(made.bare)]))["threads"]
    innermost = thread["frames"][0]
    assert {innermost["function"], *innermost["aliases"]} == {"price_of_apple", "price_of_pear"}
