"""Tables of languages' runtimes that name the same things again and again."""

from __future__ import annotations

import subprocess
from pathlib import Path

from acceptance.bad_input.bombs import Command, bomb

METHODS = r"""
extern void __objc_exec_class(void *);
static char name[4097] = {[0 ... 4094] = 'A'}, selector[] = "s";
void code(void) {}
struct { void *next; int count, pad; void *method[3]; }
    list = {0, 1, 0, {selector, selector, code}};
struct class { void *words[12]; } meta = {{0, 0, name}};
struct class one = {{&meta, 0, name, 0, 0, 0, 0, &list}};
struct { long count; void *selectors; unsigned short classes, categories; int pad;
         void *all[65535]; }
    symbols = {0, 0, 65535, 0, 0, {[0 ... 65534] = &one}};
struct { long version, size; char *name; void *symbols; }
    modules[20000] = {[0 ... 19999] = {8, 32, selector, &symbols}};
int main() { __objc_exec_class(modules); }
"""
FRAMES = r"""
const char options[] = "OCAMLRUNPARAM";
int code(void) { return 1; }
struct { void *pc; unsigned short size, live; unsigned info; } *used;
struct {
  long count;
  struct { void *pc; unsigned short size, live; unsigned info; } frames[60000];
  unsigned first, second, file;
  char name[8 << 20];
} table __attribute__((aligned(8))) = {
    60000, {[0 ... 59999] = {code, 1, 0, 16}}, 0, 0x1000, 0, {[0 ... (8 << 20) - 1] = 'A'}};
int main() { return options[code()] + (used != 0); }
"""


def _program(source: str, folder: Path, *flags: str) -> list[Command]:
    made = folder / "program"
    subprocess.run(
        ["gcc", "-w", "-no-pie", *flags, "-x", "c", "-", "-o", str(made), "-lobjc"],
        input=source, text=True, check=True,
    )  # fmt: skip
    subprocess.run(["strip", str(made)], check=True)
    return [["functions", str(made)]]


@bomb("program")
def modules_of_the_same_classes(folder: Path) -> list[Command]:
    """20,000 modules of Objective-C with the same 65,535 classes, whose name has 4 KB."""
    return _program(METHODS, folder)


@bomb("program")
def frames_with_a_name_of_megabytes(folder: Path) -> list[Command]:
    """60,000 descriptors of OCaml that name the same text, which does not end."""
    return _program(FRAMES, folder, "-static")
