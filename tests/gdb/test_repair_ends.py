"""Where a stack was begun by hand gdb shows nothing behind its first function after a repair."""

from __future__ import annotations

import re
import struct
from pathlib import Path

from programs import shared
from sessions import batch

BY_HAND = """
#define _GNU_SOURCE
#include <stdlib.h>
#include <ucontext.h>
static ucontext_t before, made;
static char stack[65536];
__attribute__((noinline)) void inner(int n) {
  if (n == 0) abort();
  inner(n - 1);
  __asm__ volatile(""); }
void entry(void) { inner(3); __asm__ volatile(""); }
int main(void) {
  getcontext(&made);
  made.uc_stack.ss_sp = stack;
  made.uc_stack.ss_size = sizeof stack;
  made.uc_link = 0;
  makecontext(&made, entry, 0);
  ((long *)made.uc_mcontext.gregs[REG_RSP])[0] = 0;
  swapcontext(&before, &made);
  return 0; }
"""

IDLE = """
#include <pthread.h>
#include <unistd.h>
static void *idle(void *unused) { for (;;) pause(); return unused; }
int main(void) {
  pthread_t other;
  pthread_create(&other, 0, idle, 0);
  usleep(100000);
"""


def addresses(said: str) -> list[int]:
    """The pcs of gdb's frames in the program; frame 0 may have none."""
    lines = [line.split() for line in said.splitlines() if line.startswith("#")]
    return [int(words[1], 16) for words in lines if words[1].startswith("0x")]


def test_no_frame_at_zero() -> None:
    crash = shared("by_hand", BY_HAND, "-O1")
    own = addresses(batch(["bt"], [crash.exe, crash.core]).out)
    assert own[-1] == 0, "gdb does not show what the repair is for"
    said = batch(["whocall repair", "bt"], [crash.exe, crash.core])
    assert ", 1 frame one by one." in said.out and not said.err.count("still differs"), said
    assert addresses(said.out) == own[:-1]


# gdb asks for the caller of what `n` was on entry before it knows which frame it is in.
INLINED = (
    BY_HAND.replace(
        "__attribute__((noinline)) void inner(int n) {",
        """static volatile int first = 1;
static inline __attribute__((always_inline)) int reading(int *p, int n) {
  int before = first + first * first;
  __asm__ volatile("xor %%esi, %%esi" ::: "rsi");
  return *(volatile int *)p + before; }
__attribute__((noinline)) void inner(int n) {""",
    )
    .replace("void entry(void) { inner(3);", "void entry(int *p, int n) { reading(p, n);")
    .replace("entry, 0)", "(void (*)(void))entry, 2, 0, 5)")
)


def test_an_inlined_function_where_the_stack_ends() -> None:
    """gdb took the frame behind the last one for an inlined one, and died of an assertion."""
    crash = shared("by_hand_inlined", INLINED, "-O2 -g")
    commands = ["whocall repair", "bt", "info frame", "up", "info frame", "info threads"]
    said = batch([*commands, "echo still here\\n"], [crash.twin, crash.core])
    assert ", 1 frame one by one." in said.out, said
    assert "still here" in said.out, said
    names = re.findall(r"^#(\d) .*?(reading|entry) \(", said.out, re.MULTILINE)
    assert names[-3:] == [("0", "reading"), ("1", "entry"), ("1", "entry")], said


def test_a_thread_without_registers(tmp_path: Path) -> None:
    """What leads gdb is asked of its frame too, where not even the pc is known."""
    threaded = BY_HAND.replace("int main(void) {", IDLE)
    crash = shared("by_hand_beside_another", threaded, "-O1 -pthread")
    core = tmp_path / "core"
    contents = bytearray(crash.core.read_bytes())
    status = struct.pack("<III8s", 5, 336, 1, b"CORE")
    second = contents.index(status, contents.index(status) + 1)
    struct.pack_into("<i", contents, second + len(status) + 32, -7)  # gdb finds its registers by it
    core.write_bytes(contents)
    said = batch(["whocall repair", "thread apply all bt 3"], [crash.exe, core])
    assert ", 1 frame one by one." in said.out, said
    assert "<unavailable>" in said.out, "gdb knows all: nothing is tested"
    assert "Python Exception" not in said.out + said.err
