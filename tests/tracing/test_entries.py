"""Hooks at the beginnings of functions alone: the tree of calls is that of hooks at both ends."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tracing.lab import NATIVE, PROGRAMS, STATIC, Ran, build, profile, run, said, whocall
from tracing.randomprograms import source

WAYS = {
    "pg": ("-pg",),
    "mfentry": ("-pg", "-mfentry"),
    "patched": ("-fpatchable-function-entry=5",),
}
PATCHED = {"WHOCALL_TRACE_PATCH": "1"}
PLAIN = {
    "O0": ("-O0",),
    "O2": ("-O2", "-fno-inline", "-fno-optimize-sibling-calls", "-fno-ipa-cp", "-fno-ipa-sra"),
    "O2-no-tables": ("-O2", "-fno-inline", "-fno-optimize-sibling-calls", "-fno-ipa-cp",
                     "-fno-ipa-sra", "-fno-asynchronous-unwind-tables"),
}  # fmt: skip
_COLUMNS = 35  # of a line, before what is indented
_BEGIN = re.compile(r"(?P<indent> +)(?P<name>[^\s(]+).*?(?: \{)?  <- ")


def compiled(
    folder: Path, text: Path, way: str, *flags: str, compiler: str = "gcc", hooks: str = ""
) -> Path:
    """A program that is compiled one way, and linked as that wants."""
    folder.mkdir(exist_ok=True)
    made = folder / text.stem
    objects = folder / "object.o"
    command = [compiler, "-g", "-w", *flags, *WAYS.get(way, ()), "-c", text, "-o", objects]
    subprocess.run([*map(str, command)], check=True)
    kept = ["-Wl,-u,whocall_trace_patch"] if way == "patched" else []
    link = [compiler, objects, *kept, STATIC, "-pthread", "-ldl", "-o", made]
    subprocess.run([*map(str, link)], check=True)
    return made


def keeps_frames(objects: Path) -> bool:
    """Whether its hook wants frame pointers: some compilers mean -mfentry by -pg."""
    listed = subprocess.run(["nm", objects], capture_output=True, text=True, check=True).stdout
    return "U mcount" in listed


def begins(ran: Ran) -> list[tuple[int, str]]:
    """Depth and name of each call, in their order."""
    assert ran.core is not None, ran.output
    found = [_BEGIN.match(line, _COLUMNS) for line in said("trace", ran.core).splitlines()]
    return [
        (len(each["indent"]) // 2, re.sub(r"\..*|\(.*", "", each["name"])) for each in found if each
    ]


@pytest.mark.parametrize("plain", PLAIN)
@pytest.mark.parametrize("way", WAYS)
def test_random_programs(way: str, plain: str, tmp_path: Path) -> None:
    calls = wrong = 0
    for seed in (0, 3, 6):
        text = tmp_path / f"random{seed}.c"
        text.write_text(source(seed))
        whole = run(build(tmp_path, text, *PLAIN[plain]))
        alone = run(compiled(tmp_path / way, text, way, *PLAIN[plain]), **PATCHED)
        wanted, found = begins(whole), begins(alone)
        assert [name for _, name in found] == [name for _, name in wanted], seed
        calls += len(wanted)
        wrong += sum(one != other for one, other in zip(found, wanted))
    # Without frame pointers one that has returned may pass for the caller of what its own caller
    # calls next.
    assert calls > 3000
    assert wrong <= (0 if keeps_frames(tmp_path / way / "object.o") else calls // 100)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("way", ["pg", "mfentry"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_counts(way: str, compiler: str, level: str, tmp_path: Path) -> None:
    """Arguments of the functions that hooks begin, floating ones too, arrive as they were."""
    exe = compiled(tmp_path / way, PROGRAMS / "handed.c", way, level, compiler=compiler)
    ran = run(exe)
    assert ran.output.splitlines()[0] == "36 44.5 120 3.25"
    assert ran.core is not None
    calls = profile(ran.core)
    assert {name: calls[name] for name in ("six", "ten", "mixed", "leaf")} == {
        "six": 20, "ten": 20, "mixed": 20, "leaf": 60,
    }  # fmt: skip
    tree = begins(ran)
    depths = {name: {depth for depth, each in tree if each == name} for _, name in tree}
    outer = min(depths["main"])
    assert depths["six"] == depths["ten"] == depths["mixed"] == {outer + 1}
    assert depths["leaf"] == {outer + 2}


def test_a_function_is_left_by_a_jump_and_by_an_exception(tmp_path: Path) -> None:
    for way in WAYS:
        exe = compiled(tmp_path / way, PROGRAMS / "jumps.cpp", way, "-O1", compiler="g++")
        ran = run(exe, **PATCHED)
        tree = begins(ran)
        outer = min(depth for depth, _ in tree)
        after = [depth for depth, name in tree if name == "after"]
        assert after == [outer + 1, outer + 1]
        assert "not seen to end" in said("trace", ran.core)
        assert "left without a return" not in said("trace", ran.core)


def test_what_is_told_of_times(tmp_path: Path) -> None:
    exe = compiled(tmp_path / "pg", PROGRAMS / "handed.c", "pg", "-O1")
    core = run(exe).core
    assert core is not None
    tree = said("trace", core)
    assert "calls, whose returns are not seen: each took less than is told" in tree
    assert re.search(r"<\d+ ns +leaf  <- ", tree)
    events = json.loads(said("trace", core, "--json"))["traceEvents"]
    ends = {event["args"].get("end") for event in events if event["ph"] == "X"}
    assert ends == {"by then", "not seen"}
    refused = whocall("compare", core, "--shadow")
    assert refused.returncode == 1
    assert "whose hooks see no returns" in refused.stderr


HELPED = """
#include <stdlib.h>
#include <unistd.h>
#define KEPT __attribute__((noinline))
#define PLAIN __attribute__((noinline, no_instrument_function))
KEPT static int work(int n);
KEPT int outer(int n) { return work(n) + 1; }
KEPT static int leaf(int n) { return n * 3; }
PLAIN static int helper(int n) { return leaf(n) + leaf(n + 1); }
KEPT static int work(int n) { int sum = helper(n); usleep(30000); return sum; }
static volatile int kept;
int main(void) { kept = outer(1); kept = leaf(kept); abort(); }
"""


@pytest.mark.parametrize("way", ["pg", "mfentry"])
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2"])
def test_a_function_without_a_hook_between(way: str, level: str, tmp_path: Path) -> None:
    """None is said to have ended while it runs."""
    (tmp_path / "helped.c").write_text(HELPED)
    core = run(compiled(tmp_path / way, tmp_path / "helped.c", way, level)).core
    assert core is not None
    lines = said("trace", core).splitlines()
    (work,) = [line for line in lines if "} work" in line]
    assert re.search(r"<\d+\.\d+ ms +\} work", work), lines
    assert sum(line.strip().endswith("<- helper at helped.c:9") for line in lines) == 2, lines


STACK_THAT_IS_GONE = """
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#define KEPT __attribute__((noinline))
static ucontext_t outside, inside;
static char *stack;
KEPT static void inner(void) { swapcontext(&inside, &outside); }
KEPT static void co(void) { inner(); }
KEPT static int after(int n) { __asm__ volatile("" : "+r"(n)); return n + 1; }
KEPT static void *run(void *unused) {
  getcontext(&inside);
  inside.uc_stack.ss_sp = stack;
  inside.uc_stack.ss_size = 262144;
  makecontext(&inside, co, 0);
  swapcontext(&outside, &inside);
  munmap(stack, 262144);
  return after(1) == 2 ? unused : stack;
}
int main(void) {
  pthread_t thread;
  stack = mmap(0, 262144, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_create(&thread, 0, run, 0);
  pthread_join(thread, 0);
  abort();
}
"""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_stack_that_is_gone(way: str, level: str, tmp_path: Path) -> None:
    (tmp_path / "gone.c").write_text(STACK_THAT_IS_GONE)
    ran = run(compiled(tmp_path / way, tmp_path / "gone.c", way, level), **PATCHED)
    assert ran.status == -6
    assert any(name.startswith("after") for name in profile(ran.core))


FLOATS = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) double added(double a, double b) { return a + b; }
__attribute__((no_instrument_function)) static void *run(void *unused) {
  if (added(1.5, 2.25) != 3.75) _Exit(9);
  return unused;
}
int main(void) {
  for (int i = 0; i < 40; ++i) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
  }
  abort();
}
"""


@pytest.mark.parametrize("way", WAYS)
def test_arguments_in_vectors(way: str, tmp_path: Path) -> None:
    """Of the first function that a thread calls, whose hook takes memory and clears it."""
    (tmp_path / "floats.c").write_text(FLOATS)
    exe = compiled(tmp_path / way, tmp_path / "floats.c", way, "-O1")
    lesser = "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW"
    for more in ({}, {"GLIBC_TUNABLES": lesser}):
        ran = run(exe, WHOCALL_TRACE_THREADS="2", **PATCHED, **more)
        assert ran.status == -6


@pytest.mark.parametrize("room", ["8,4", "10,5", "16", "2"])
def test_other_room_is_left_alone(room: str, tmp_path: Path) -> None:
    objects, made = tmp_path / "handed.o", tmp_path / "handed"
    text = PROGRAMS / "handed.c"
    flags = ["-g", "-w", "-O2", f"-fpatchable-function-entry={room}", "-c"]
    subprocess.run(["gcc", *flags, str(text), "-o", str(objects)], check=True)
    link = ["gcc", objects, "-Wl,-u,whocall_trace_patch", STATIC, "-pthread", "-ldl", "-o", made]
    subprocess.run([*map(str, link)], check=True)
    ran = run(made, **PATCHED)
    assert ran.output.splitlines()[0] == "36 44.5 120 3.25"
    assert ran.core is not None
    assert whocall("trace", ran.core).returncode == 1


def test_no_hook_is_written_where_nobody_asks(tmp_path: Path) -> None:
    exe = compiled(tmp_path / "p", PROGRAMS / "handed.c", "patched", "-O1")
    ran = run(exe)
    assert ran.core is not None
    assert whocall("trace", ran.core).returncode == 1


@pytest.mark.parametrize(
    ("name", "compilers", "emulator"),
    [("i386", ["gcc", "-m32"], []), ("aarch64", ["aarch64-linux-gnu-gcc"], ["qemu-aarch64"]),
     ("arm", ["arm-linux-gnueabihf-gcc"], ["qemu-arm"])],
)  # fmt: skip
def test_other_sets(name: str, compilers: list[str], emulator: list[str], tmp_path: Path) -> None:
    sources = sorted((NATIVE / "runtime" / "trace").glob("*.c"))
    flags = ["-g", "-w", "-O2", f"-I{NATIVE}", "-fvisibility=hidden"]
    parts = []
    for each in sources:
        parts.append(tmp_path / f"{each.stem}.o")
        more = ["-mgeneral-regs-only"] if name == "aarch64" else []
        subprocess.run([*compilers, *flags, *more, "-c", each, "-o", parts[-1]], check=True)
    for level in ("-O0", "-O2"):
        made = tmp_path / f"handed{level}"
        text = PROGRAMS / "handed.c"
        subprocess.run(
            [*compilers, "-g", "-w", level, "-pg", "-c", text, "-o", f"{made}.o"], check=True
        )
        link = [*compilers, f"{made}.o", *parts, "-pthread", "-ldl", "-static", "-o", made]
        subprocess.run([*map(str, link)], check=True)
        trace = tmp_path / f"trace{level}"
        ran = subprocess.run(
            [*emulator, made], capture_output=True, text=True, check=False, cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "WHOCALL_TRACE_FILE": str(trace)},
        )  # fmt: skip
        assert ran.stdout == "36 44.5 120 3.25\n"
        calls = profile(trace)
        assert {each: calls[each] for each in ("six", "ten", "mixed", "leaf")} == {
            "six": 20, "ten": 20, "mixed": 20, "leaf": 60,
        }  # fmt: skip
