"""Functions without tables that call on another stack: what stands behind the call leads back."""

from __future__ import annotations

from pathlib import Path

import pytest

from acceptance.helpers import chains
from acceptance.helpers.twin_crashes import build

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* As OCaml 5 calls C: the old stack pointer is kept on the other stack, of which a block tells. */
void *switched(void *(*f)(void *), void *x);
void *block[2];
__asm__(".text\n.globl switched\n.type switched,@function\nswitched:\n" SWITCH
        ".size switched,.-switched\n");
__attribute__((noinline)) void *inside(void *x) {
  char b[32];
  memset(b, 1, sizeof b);
  if (x == NULL) abort();
  return (char *)x + b[3];
}
__attribute__((noinline)) void *outer(void *x) {
  char b[72];
  memset(b, 2, sizeof b);
  char *got = switched(inside, x);
  return got + b[5];
}
__attribute__((noinline)) int again(int n) {
  volatile char b[16] = {0};
  return (outer(n > 5 ? block : NULL) != NULL) + b[0];
}
int main(int argc, char **argv) {
  block[1] = (char *)malloc(65536) + 65536 - 64;
  return again(argc) + printf("x");
}
"""
SAVE = "mov 8+block(%rip),%r11\nmov %rdi,%rax\nmov %rsi,%rdi\n"
FORMS = {
    "plain": SAVE + "mov %rsp,8(%r11)\nmov %r11,%rsp\ncall *%rax\nmov 8(%rsp),%rsp\nret\n",
    "saved": "push %rbx\npush %rbp\n" + SAVE + "mov %rsp,16(%r11)\nmov %r11,%rsp\ncall *%rax\n"
    "mov 16(%rsp),%r10\nmov %r10,%rsp\npop %rbp\npop %rbx\nret\n",
    "in-rbx": "push %rbx\nsub $24,%rsp\n" + SAVE + "mov %rsp,(%r11)\nmov %r11,%rsp\nmov %r11,%rbx\n"
    "call *%rax\nmov (%rbx),%rsp\nadd $24,%rsp\npop %rbx\nret\n",
    "popped": SAVE + "lea -8(%r11),%r11\nmov %rsp,(%r11)\nsub $8,%r11\nmov %r11,%rsp\ncall *%rax\n"
    "add $8,%rsp\npop %rsp\nret\n",
    "left by a jump": SAVE + "mov %rsp,(%r11)\nmov %r11,-8(%r11)\nlea -32(%r11),%r11\n"
    "mov %r11,%rsp\ncall *%rax\nlea 16(%rsp),%r10\nmov 8(%r10),%r10\nmov (%r10),%r9\n"
    "lea 1f(%rip),%rcx\nmov %r9,%rsp\njmp *%rcx\n1: ret\n",
}
NO_TABLES = ["-fno-asynchronous-unwind-tables", "-fno-exceptions", "-fomit-frame-pointer"]


@pytest.mark.parametrize("level", ["-O1", "-O2"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("tables", [True, False], ids=["tables", "no-tables"])
def test_calls_on_another_stack(form: str, level: str, tables: bool, tmp_path: Path) -> None:
    """With tables of all but the function that switches, and with none at all."""
    text = '"' + form.replace("\n", '\\n"\n"') + '"'
    without = [] if tables else NO_TABLES
    built = build(SOURCE.replace("SWITCH", text), tmp_path, [level, *without])
    trace = built.trace()
    listing = chains.listing(trace)
    names = ["inside", "switched", "outer", "again", "main", "_start"]
    assert built.named(trace) == names, listing
    assert {frame.trust for frame in trace.frames} <= {"context", "cfi", "analysis"}, listing
