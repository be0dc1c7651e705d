"""What leads from a frame to its caller where no loaded table says it; and what does not."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from runtime.lab import LIBRARIES, build
from runtime.test_questions import NO_INDEX, NO_TABLES, STATIC

WORDS = """
#include "whocall.h"
KIND __attribute__((noinline)) void alone(void) { who_call_me(0); __asm__ volatile(""); }
KIND __attribute__((noinline)) void beside(void) { alone(); __asm__ volatile(""); }
int main(void) { beside(); return 0; }
"""
# push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret: what makes code while it runs, with frames.
MADE = """
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include "whocall.h"
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
static void (*made)(void (*)(void));
__attribute__((noinline)) static void leaf(void) {
  whocall_frame frames[30];
  whocall_print(1, frames, whocall_backtrace(frames, 30));
  *(volatile int *)8 = 1;
}
__attribute__((noinline)) static void between(void) { made(leaf); __asm__ volatile(""); }
__attribute__((noinline)) static void outer(void) { made(between); __asm__ volatile(""); }
int main(void) {
  void *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(page, code, sizeof code);
  mprotect(page, 4096, PROT_READ | PROT_EXEC);
  made = (void (*)(void (*)(void)))page;
  whocall_install(0);
  outer();
  return 0;
}
"""
PLACE = re.compile(r"\(\+(0x\w+)\) called .*\(\+(0x\w+)\) (\[[a-z-]+\])$")
FRAME = re.compile(r"^#\d+ +0x\w+ (?:\?|\S+\(\S+\)) (\?|\w+)\S* (\[[a-z-]+\])$", re.MULTILINE)


def said(program: Path) -> str:
    ran = subprocess.run([program], capture_output=True, text=True, check=False)
    return ran.stdout + ran.stderr


def test_a_stripped_static_program_without_an_index(tmp_path: Path) -> None:
    """The table is read from the program's file; without names it leads to the same places."""
    source = tmp_path / "words.c"
    source.write_text(WORDS)
    program = build(tmp_path, str(source), "-O2", "-DKIND=", "-static", NO_INDEX, STATIC)
    full = said(program)
    assert re.match(r"beside\+0x\w+ in \S+ called alone\+0x\w+ in \S+ \[cfi\]\n", full)
    subprocess.run(["strip", program], check=True)
    assert PLACE.search(said(program).strip()) is not None
    assert PLACE.findall(said(program).strip()) == PLACE.findall(full.strip())


WITHOUT = '-DKIND=__attribute__((optimize("omit-frame-pointer")))'


@pytest.mark.parametrize("kind", ["-DKIND=", WITHOUT], ids=["kept", "not kept"])
def test_frame_pointers_alone(kind: str, tmp_path: Path) -> None:
    """The function's instructions say where its caller is: main has a frame pointer in any case."""
    source = tmp_path / "words.c"
    source.write_text(WORDS)
    flags = ("-O2", kind, *NO_TABLES, "-fno-omit-frame-pointer", STATIC)
    text = said(build(tmp_path, str(source), *flags))
    assert re.match(r"beside\+0x\w+ in \S+ called alone\+0x\w+ in \S+ \[analysis\]\n$", text)


def test_a_borrowed_frame_pointer(tmp_path: Path) -> None:
    """It is its caller's, and leads past it."""
    flags = ("-O1", *NO_TABLES, "-fno-omit-frame-pointer", STATIC)
    assert said(build(tmp_path, "borrowed.c", *flags)) == "0 middle\n"


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-Os"])
def test_a_place_behind_a_call_that_does_not_return(level: str, tmp_path: Path) -> None:
    """A jump by a table alone leads to it: what lies on the stack for the call is not its own."""
    flags = (level, *NO_TABLES, "-fomit-frame-pointer", STATIC)
    assert said(build(tmp_path, "chosen.c", *flags)) in ("0 middle\n", "-1 ?\n")


@pytest.mark.parametrize("flags", [(), NO_TABLES], ids=["tables", "none"])
def test_code_that_is_made_while_the_program_runs(tmp_path: Path, flags: tuple[str, ...]) -> None:
    """It is of no file; where it keeps a frame pointer, that leads through it."""
    source = tmp_path / "made.c"
    source.write_text(MADE)
    options = ("-O2", "-fno-omit-frame-pointer", *flags, str(LIBRARIES / "libwhocall.a"))
    text = said(build(tmp_path, str(source), *options))
    frames = FRAME.findall(text.partition("end of the stack")[0])
    chain = ["leaf", "?", "between", "?", "outer", "main"]
    assert [name for name, _ in frames][:6] == chain
    crash = [name for name, _ in frames if name != "__libc_start_main"]
    assert crash.count("outer") == 2
    assert {trust for name, trust in frames if name == "between"} == {"[frame-pointer]"}
