"""The analysis on every form of prologue, epilogue, call and jump, with the unwind table as oracle.

Hand-written forms have their tables beside each instruction; compiled ones have the compiler's, and
stubs have the linker's. The analysis sees none of them but for the bounds of functions.
"""

from __future__ import annotations

import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from artifact_cache import compilers, kept_copy
from oracles.tools import run

from acceptance.rows.code_forms import FORMS, OPTIONS, assemble, count_instructions, source_of
from whocall.base.native_module import native

HERE = Path(__file__).parent

GAPS = {
    # The words that were pushed have one of two distances from the aligned stack pointer.
    ("x86_64", "aligned-by-pushing-the-stack-pointer"): 3,
    # __morestack comes back behind the return, at the jump.
    ("x86_64", "split-stack-large"): 1,
    ("i386", "split-stack"): 1,
}
"""At how many instructions of hand-written forms the frame is known not to be right."""

HEADER_FILLING = 2
"""ld fills the header of i386's .plt up with zeros, two instructions that nobody runs."""

PAIRS = [(arch, name) for arch, forms in FORMS.items() for name in forms]


def misses(audit: native.Audit) -> dict[str, int]:
    """How many instructions have no right frame, by class; the i386 header's filling left out."""
    classes = {name: number for name, number in audit.instructions.classes.items() if number}
    if audit.arch == "i386" and classes.get("plt", 0) <= HEADER_FILLING:
        classes.pop("plt", None)
    return classes


@pytest.mark.parametrize(("arch", "name"), PAIRS, ids=["-".join(pair) for pair in PAIRS])
def test_hand_written(arch: str, name: str, tmp_path: Path) -> None:
    library = assemble(arch, source_of(arch, name), tmp_path)
    audit = native.audit(str(library))
    assert audit.instructions.places == count_instructions(library)
    found = [(hex(item.address), item.outcome, item.analysis) for item in audit.differences]
    assert sum(misses(audit).values()) <= GAPS.get((arch, name), 0), found


def compile_forms(command: list[str], source: str, arch: str, folder: Path) -> Path:
    """A stripped shared object of one of the sources beside this file."""
    library = folder / "forms.so"
    table = ["-fasynchronous-unwind-tables", "-Wl,-z,lazy,-z,notext"]
    shared = ["-w", "-shared", "-nostdlib", "-fPIC", *OPTIONS[arch], *table]

    def compile_to(file: Path) -> None:
        subprocess.run([*command, *shared, "-o", file, HERE / source], check=True)
        subprocess.run(["strip", file], check=True)

    recipe = (command, shared, HERE / source, compilers(command[0]))
    return kept_copy(recipe, compile_to, library)


COMMANDS = [
    "-O0",
    "-O1",
    "-O2",
    "-Os",
    "-O2 -fno-omit-frame-pointer",
    "-O2 -fcf-protection",
    "-O2 -fstack-clash-protection",
    "-O3 -march=skylake-avx512",
    "-O2 -pg",
    "-O2 -finstrument-functions",
]
GCC_ONLY = [
    "-O2 -fsplit-stack",
    "-O2 -mindirect-branch=thunk -fno-jump-tables",
    "-O2 -maccumulate-outgoing-args",
]
CLANG_ONLY = ["-Oz", "-O2 -mretpoline"]

RIGHT_SHARE = {"x86_64": 1.0, "i386": 0.95}
"""Of all instructions of what compilers made, those with the right frame.

i386 functions that return structures pop the pointer to them, and behind a call of one in another
library nothing tells so.
"""
LESS = {
    "gcc -O2 -fsplit-stack": 0.9,  # jumps that only __morestack comes to
    "gcc -O2 -mindirect-branch=thunk -fno-jump-tables": 0.99,  # thunks are entered at any depth
}
"""The shares of what has less."""
PUSHED_ARGUMENTS = 0.93
"""Where a call throws that had arguments pushed, the runtime drops them; clang does so."""


def late_pushes(audit: native.Audit, library: Path) -> int:
    """How often the table, and not the analysis, is wrong: a push stands before the instruction,
    and the table knows of it only behind that one. clang 19 with -finstrument-functions does so.
    """
    said = run(["objdump", "-d", "-w", "--no-show-raw-insn", str(library)])
    code = re.findall(r"^ +([0-9a-f]+):\t(\w+)", said, re.MULTILINE)
    behind_push = {int(at, 16) for (_, before), (at, _) in pairwise(code) if before == "push"}
    depth = re.compile(r"[re]sp\+(\d+), (.*)")
    late = 0
    for each in audit.differences:
        ours, theirs = depth.match(each.analysis or ""), depth.match(each.table or "")
        if each.address in behind_push and ours and theirs:
            pushed = int(ours[1]) - int(theirs[1])
            late += pushed == {"x86_64": 8, "i386": 4}[audit.arch]
    return late


@pytest.mark.parametrize("arch", OPTIONS)
@pytest.mark.parametrize(
    "command",
    [f"gcc {each}" for each in [*COMMANDS, *GCC_ONLY]]
    + [f"clang {each}" for each in [*COMMANDS, *CLANG_ONLY]],
)
def test_compiled_c(command: str, arch: str, tmp_path: Path) -> None:
    library = compile_forms(command.split(), "code_forms.c", arch, tmp_path)
    audit = native.audit(str(library))
    total, missed = audit.instructions.places, misses(audit)
    assert total > 500
    least = min(RIGHT_SHARE[arch], LESS.get(command, 1.0))
    assert 1 - (sum(missed.values()) - late_pushes(audit, library)) / total >= least, missed


@pytest.mark.parametrize("arch", OPTIONS)
@pytest.mark.parametrize("command", ["g++ -O2", "g++ -O0", "g++ -Os", "clang++ -O2", "clang++ -O0"])
def test_compiled_landing_pads(command: str, arch: str, tmp_path: Path) -> None:
    """Landing pads in the body and in cold parts run as deep as the calls that throw."""
    library = compile_forms(command.split(), "code_forms.cc", arch, tmp_path)
    audit = native.audit(str(library))
    assert audit.instructions.places > 300
    missed = misses(audit)
    least = PUSHED_ARGUMENTS if command == "clang++ -O2" else RIGHT_SHARE[arch]
    assert 1 - sum(missed.values()) / audit.instructions.places >= least, missed


@pytest.mark.parametrize("arch", OPTIONS)
@pytest.mark.parametrize("kind", ["-Wl,-z,lazy", "-Wl,-z,ibtplt", "-Wl,-z,now"])
def test_linkage_tables(kind: str, arch: str, tmp_path: Path) -> None:
    """The tables of stubs are the linker's own."""
    source, library = tmp_path / "calls.c", tmp_path / "calls.so"
    names = [f"imported_{number}" for number in range(9)]
    declared = "".join(f"void {name}(void);\n" for name in names)
    source.write_text(f"{declared}void f(void) {{ {'(); '.join(names)}(); }}\n")
    command = ["gcc", *OPTIONS[arch], "-O1", "-fPIC", "-shared", "-nostdlib", kind]
    subprocess.run([*command, "-o", library, source], check=True)
    audit = native.audit(str(library))
    sections = subprocess.run(["readelf", "-SW", library], capture_output=True, text=True).stdout
    assert " .plt" in sections
    assert audit.instructions.places >= 9 * 2
    assert misses(audit) == {}


def test_jumps_that_come_back_twice(tmp_path: Path) -> None:
    """Behind setjmp the frame is known; the code that longjmp itself runs may be unknown."""
    source = tmp_path / "jumps.c"
    source.write_text("""
        extern int setjmp(void *) __attribute__((returns_twice));
        extern void longjmp(void *, int) __attribute__((noreturn));
        long room[25];
        int tries(int a) { return setjmp(room) ? a : a + 1; }
        void fails(int a) { if (a) longjmp(room, a); room[1] = a; }
    """)
    command = ["gcc", "-O2", "-shared", "-nostdlib", "-fPIC", "-o", tmp_path / "jumps.so", source]
    subprocess.run(command, check=True)
    assert misses(native.audit(str(tmp_path / "jumps.so"))) == {}
