"""What the rows are compared on: sources whose frames are as different as compilers make them, and
hand-written directives that no compiler gives out.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from artifact_cache import compilers, kept_copy
from oracles.tools import environment

EH, DEBUG = ".eh_frame", ".debug_frame"

C_SOURCE = r"""
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) int callee(int n, ...) {
  va_list list;
  int sum = 0;
  va_start(list, n);
  while (n--) sum += va_arg(list, int);
  va_end(list);
  return sum;
}
__attribute__((noinline)) void fill(char *at, size_t size) { memset(at, 7, size); }
__attribute__((noinline)) int realigned(int n) {
  __attribute__((aligned(64))) char local[256];
  char *more = alloca((size_t)n);
  fill(local, sizeof local);
  fill(more, (size_t)n);
  return local[n & 255] + *more;
}
__attribute__((noinline)) int large(int n) {
  char local[300000];
  fill(local, sizeof local);
  return local[n];
}
__attribute__((noinline)) int shrink_wrapped(int n, int *out) {
  if (n < 3) return n;
  for (int i = 0; i < n; i++) out[i & 3] += callee(3, n, i, out[0]);
  return out[0] ^ out[1] ^ out[2] ^ out[3];
}
static jmp_buf buffer;
__attribute__((noinline)) int jumping(int n) {
  if (setjmp(buffer)) return 1;
  if (n > 5) longjmp(buffer, 1);
  return callee(1, n);
}
__attribute__((noinline)) int many_registers(int a, int b, int c, int d, int e, int f) {
  int g = callee(1, a), h = callee(1, b), i = callee(1, c), j = callee(1, d), k = callee(1, e);
  return a * g + b * h + c * i + d * j + e * k + f;
}
__attribute__((noinline)) int tail(int n) { return n & 1 ? jumping(n) : realigned(n); }
__attribute__((noinline, noreturn, cold)) void dies(int n) { exit(callee(2, n, n)); }
int main(int argc, char **argv) {
  int out[4] = {0};
  if (argc > 100) dies(argc);
  switch (argc) {
    case 1: return large(argc);
    case 2: return tail(argc);
    case 3: return shrink_wrapped(argc, out);
    case 4: return many_registers(argc, 2, 3, 4, 5, 6);
    default: return callee(1, (int)(argv[0] != NULL));
  }
}
"""

CPP_SOURCE = r"""
#include <stdexcept>
#include <string>
#include <vector>
struct Guard {
  std::vector<std::string> &list;
  ~Guard() { list.pop_back(); }
};
__attribute__((noinline)) int throwing(int n) {
  if (n > 3) throw std::runtime_error(std::to_string(n));
  return n;
}
__attribute__((noinline)) int catching(std::vector<std::string> &list, int n) {
  list.emplace_back("x");
  Guard guard{list};
  try {
    return throwing(n) + throwing(n + 1);
  } catch (const std::exception &error) {
    return (int)std::string(error.what()).size();
  }
}
int main(int argc, char **) {
  std::vector<std::string> list;
  return catching(list, argc);
}
"""

# Every directive of the assembler that says something about rows, and by .cfi_escape what it has
# no directive for. `expected_hand_written` states what it means.
ASSEMBLY = """
    .text
    .cfi_sections {section}
    .globl _start
    .type _start, @function
_start:
    .cfi_startproc
    .cfi_undefined rip
    nop
    .cfi_endproc
    .size _start, . - _start

    .type everything, @function
everything:
    .cfi_startproc
    nop
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbp, 0
    nop
    .cfi_remember_state
    .cfi_def_cfa_register rbp
    .cfi_offset rbx, -24
    .cfi_offset r12, -32
    nop
    .cfi_remember_state
    .cfi_def_cfa rsp, 4096
    .cfi_register r13, r14
    .cfi_same_value r15
    .skip 100
    .cfi_restore rbx
    .cfi_undefined r12
    .skip 300
    .cfi_restore_state
    .skip 70000
    .cfi_restore_state
    .cfi_val_offset r12, -40
    .cfi_def_cfa_offset 1048576
    nop
    .cfi_escape 0x0f, 0x03, 0x77, 0x10, 0x06
    .cfi_escape 0x10, 0x03, 0x02, 0x77, 0x08
    .cfi_escape 0x16, 0x0c, 0x02, 0x77, 0x18
    nop
    .cfi_def_cfa rsp, 8
    .cfi_escape 0x2f, 0x06, 0x05
    .cfi_escape 0x2e, 0x10
    nop
    .cfi_escape 0x12, 0x07, 0x7e
    .cfi_escape 0x11, 0x03, 0x7d
    .cfi_escape 0x15, 0x0c, 0x02
    nop
    .cfi_endproc
    .size everything, . - everything

    .type seldom, @function
seldom:
    .cfi_startproc
    nop
    .cfi_def_cfa_offset 64
    nop
    .cfi_escape 0x0f, 0x03, 0x77, 0x10, 0x06
    nop
    .cfi_def_cfa_register rbp
    nop
    .cfi_escape 0x0f, 0x03, 0x77, 0x10, 0x06
    .cfi_escape 0x0e, 0x20
    nop
    .cfi_escape 0x0d, 0x07
    .cfi_escape 0x1d, 4, 0, 0, 0, 0, 0, 0, 0
    .cfi_escape 0x0e, 0x18
    .rept 20
    .cfi_remember_state
    .cfi_adjust_cfa_offset 8
    .endr
    .rept 20
    .cfi_restore_state
    .endr
    .cfi_offset rbx, -24
    .skip 4
    nop
    .cfi_endproc
    .size seldom, . - seldom

    .type trampoline, @function
trampoline:
    .cfi_startproc
    .cfi_signal_frame
    .cfi_return_column rip
    .cfi_def_cfa rbx, 0
    .cfi_offset rip, 16
    nop
    .cfi_endproc
    .size trampoline, . - trampoline

    .type bare, @function
bare:
    .cfi_startproc simple
    .cfi_def_cfa rsp, 16
    nop
    .cfi_endproc
    .size bare, . - bare
"""

Rows = list[tuple[int, str, dict[str, str]]]
"""(bytes from the function's start, CFA, rules)."""


def expected_hand_written() -> dict[str, Rows]:
    """The rows of ASSEMBLY, worked out by hand from the DWARF standard, section 6.4."""
    after_push = {"ra": "c-8", "rbp": "c-16"}
    saved = {**after_push, "rbx": "c-24", "r12": "c-32"}
    moved = {**saved, "r13": "r14", "r15": "s"}
    less = {**moved, "r12": "u"}
    del less["rbx"]
    computed = {**after_push, "r12": "v-40"}
    expressions = {**after_push, "rbx": "exp", "r12": "vexp"}
    negative = {"ra": "c-8", "rbp": "c-16", "rbx": "exp", "r12": "vexp"}
    at = [0, 1, 2, 3, 103, 403, 70403, 70404, 70405, 70406]
    rows = [
        ("rsp+8", {"ra": "c-8"}),
        ("rsp+16", after_push),
        ("rbp+16", saved),
        ("rsp+4096", moved),
        ("rsp+4096", less),
        ("rbp+16", saved),
        ("rsp+1048576", computed),
        ("exp", expressions),
        # DW_CFA_GNU_negative_offset_extended: the operand times the data alignment, negated.
        ("rsp+8", {**negative, "rbp": "c+40"}),
        # The factored, signed forms: 0x7e is -2, 0x7d is -3; the alignment is -8.
        ("rsp+16", {**negative, "rbp": "c+40", "rbx": "c+24", "r12": "v-16"}),
    ]
    # A register behind an expression has the offset that was stated last, and an advance of 8 bytes
    # is one of any other width.
    pushed = {"ra": "c-8"}
    seldom = ["rsp+8", "rsp+64", "exp", "rbp+64", "exp", "rsp+32"]
    return {
        "_start": [(0, "rsp+8", {"ra": "u"})],
        "seldom": [
            *((where, cfa, pushed) for where, cfa in enumerate(seldom)),
            (9, "rsp+24", {**pushed, "rbx": "c-24"}),
        ],
        "everything": [(where, *row) for where, row in zip(at, rows)],
        "trampoline": [(0, "rbx+0", {"ra": "c+16"})],
        "bare": [(0, "rsp+16", {})],
    }


@dataclass(frozen=True)
class Variant:
    """One way to compile; `section` is where its own functions' rows are."""

    name: str
    command: tuple[str, ...]
    section: str
    language: str = "c"


def _variants() -> list[Variant]:
    levels = ("-O0", "-O1", "-O2", "-O3", "-Os")
    tables = ((EH, ("-fasynchronous-unwind-tables",)), (DEBUG, ("-g", *_NO_EH)))
    made = [
        Variant(f"{compiler}{machine}{level}{section}", (compiler, machine, level, *flags), section)
        for compiler in ("gcc", "clang")
        for machine in ("-m64", "-m32")
        for level in levels
        for section, flags in tables
    ]
    frame = ("gcc", "-O2", "-fno-omit-frame-pointer")
    made.append(Variant("gcc-frame-pointer", frame, EH))
    made.append(Variant("gcc-cet-split", ("gcc", "-O2", "-fcf-protection", "-fsplit-stack"), EH))
    made.append(Variant("gcc-m32-push-args", ("gcc", "-m32", "-O2", "-mno-accumulate-outgoing-args",
                                              "-maccumulate-outgoing-args"), EH))  # fmt: skip
    for compiler in ("g++", "clang++"):
        made.append(Variant(f"{compiler}-O2", (compiler, "-O2"), EH, "c++"))
        made.append(Variant(f"{compiler}-O0", (compiler, "-O0"), EH, "c++"))
    made.append(Variant("g++-m32-O2", ("g++", "-m32", "-O2"), EH, "c++"))
    return made


_NO_EH = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-exceptions")

VARIANTS = _variants()


def compile_variant(variant: Variant, directory: Path) -> Path:
    """Compile and link a variant in full, with the C library's start-up code."""
    text = C_SOURCE if variant.language == "c" else CPP_SOURCE
    command = [*variant.command, "-w", "-x", variant.language, "-", "-o"]
    recipe = (command, text, compilers(variant.command[0]))
    return kept_copy(recipe, lambda file: _run([*command, str(file)], text), directory / "program")


def assemble(section: str, directory: Path) -> Path:
    """ASSEMBLY with its rows in `section`, linked alone."""
    text, made = directory / "hand.o", directory / "hand"
    _run(["as", "--64", "-o", str(text), "-"], ASSEMBLY.replace("{section}", section))
    _run(["ld", "--eh-frame-hdr", "-o", str(made), str(text)], "")
    return made


def _run(command: list[str], text: str) -> None:
    ran = subprocess.run(
        command, input=text, env=environment(), capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, f"{' '.join(command)}: {ran.stderr}"
