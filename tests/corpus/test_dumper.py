"""What the dumper and the stepper write of a death is what the kernel writes of it."""

from __future__ import annotations

import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from places.needs import KERNEL_CORES, allow_cores

from corpus.corefile import Core
from corpus.dumper import compiled_dumper
from corpus.elf import PT_LOAD
from corpus.stepper import compiled_stepper

PROGRAM = r"""
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static const char untouched[20000] = {1};
static int table[9000] = {1};
static pthread_barrier_t all_there;
static void *waiting(void *unused) {
  (void)unused;
  pthread_barrier_wait(&all_there);
  for (;;) pause();
}
static void die(const char *how) {
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "sent")) kill(getpid(), SIGQUIT);
  *(volatile int *)0x10 = untouched[3];
}
int main(int argc, char **argv) {
  pthread_t thread;
  const char *how = argc > 1 ? argv[1] : "";
  char *shared = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  shared[5] = 1;
  ((char *)malloc(1 << 20))[5000] = 2;
  table[2] = 3;
  pthread_barrier_init(&all_there, 0, 2);
  if (!strcmp(how, "child") && fork()) {
    wait(0);
    return 0;
  }
  pthread_create(&thread, 0, waiting, 0);
  pthread_barrier_wait(&all_there);
  usleep(100000);
  die(how);
}
"""
NEW_NOTES = {0x205}  # what the kernel alone knows: how its processor lays out vector registers
CHANGING = {1, 3}  # times, and in prpsinfo the letter of the state and the flags


@dataclass(frozen=True)
class Twice:
    """One death, by the kernel and by us."""

    kernel: Core
    ours: Core


def both(place: Path, command: list[str]) -> Twice:
    subprocess.run(command, cwd=place, preexec_fn=allow_cores, check=False, timeout=60)
    ours = place / "ours.core"
    (kernel,) = place.glob("core*")
    return Twice(Core(kernel), Core(ours))


def compiled(place: Path, *flags: str) -> Path:
    program = place / "program"
    command = ["gcc", "-O1", "-w", "-pthread", *flags, "-x", "c", "-", "-o", str(program)]
    subprocess.run(command, input=PROGRAM, text=True, check=True)
    return program


def segments(core: Core) -> list[tuple[int, int, int, int]]:
    return [
        (each.address, each.memory_size, each.file_size, each.flags)
        for each in core.elf.segments
        if each.kind == PT_LOAD
    ]


def check(found: Twice) -> None:
    assert segments(found.ours) == segments(found.kernel)
    for address, _, size, _ in segments(found.kernel):
        assert found.ours.read(address, size) == found.kernel.read(address, size), hex(address)
    assert found.ours.threads == found.kernel.threads
    assert found.ours.mappings == found.kernel.mappings
    ours, kernel = (
        [(kind, owner, b"" if kind in CHANGING else body) for kind, owner, body in core.elf.notes()]
        for core in (found.ours, found.kernel)
    )
    assert ours == [note for note in kernel if note[0] not in NEW_NOTES]


@pytest.mark.needs(KERNEL_CORES)
@pytest.mark.parametrize("how", ["fault", "abort", "sent", "child"])
@pytest.mark.parametrize("flags", ["", "-m32", "-static"])
def test_the_dumpers_core_is_the_kernels(flags: str, how: str, tmp_path: Path) -> None:
    program = compiled(tmp_path, *flags.split())
    check(both(tmp_path, [str(compiled_dumper()), "ours.core", str(program), how]))


@pytest.mark.needs(KERNEL_CORES)
@pytest.mark.parametrize("name", ["line\nfeed", "back\\slash", " blank ", "return\r"])
def test_names_of_files_are_the_kernels(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    program = compiled(folder)
    check(both(tmp_path, [str(compiled_dumper()), "ours.core", str(program), "fault"]))


@pytest.mark.needs(KERNEL_CORES)
@pytest.mark.parametrize("flags", ["", "-m32", "-static"])
def test_the_steppers_core_is_the_kernels(flags: str, tmp_path: Path) -> None:
    program = compiled(tmp_path, *flags.split())
    check(both(tmp_path, [str(compiled_stepper()), "steps", str(program), "ours.core"]))


def test_the_program_is_none_the_wiser(tmp_path: Path) -> None:
    """Its output, its end and its status are its own; what it survives makes no core."""
    asked = [str(compiled_dumper()), "core", "sh", "-c"]
    ran = subprocess.run(
        [*asked, "trap 'echo caught' ABRT; kill -ABRT $$; ls; exit 7"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (7, "caught\n")
    died = subprocess.run([*asked, "kill -SEGV $$"], cwd=tmp_path, check=False)
    assert died.returncode == -signal.SIGSEGV
    assert Core(tmp_path / "core").threads[0].signal == signal.SIGSEGV
