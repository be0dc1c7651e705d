"""Ctrl-C, in the middle of whatever takes long, gives the prompt back within 0.2 seconds.

The machine may be busy with other things: of three attempts one has to be in time.
"""

from __future__ import annotations

import time
from pathlib import Path

import pexpect
import pytest
from programs import Crash, build
from sessions import batch
from terminals import PROMPT, terminal

WITHIN = 0.2  # seconds from the key to the prompt
ATTEMPTS = 3

THOUSAND = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_barrier_t started;
__attribute__((noinline)) int deeper(volatile int n) {
  if (n == 0) for (;;) pause();
  return deeper(n - 1) + 1; }
void *work(void *unused) { (void)unused; pthread_barrier_wait(&started); deeper(30); return 0; }
int main(void) {
  pthread_t thread;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  pthread_barrier_init(&started, 0, 1001);
  for (int i = 0; i < 1000; i++) pthread_create(&thread, &small, work, 0);
  pthread_barrier_wait(&started);
  usleep(500000);
  abort();
}
"""


@pytest.fixture(scope="module")
def thousand(tmp_path_factory: pytest.TempPathFactory) -> Crash:
    """A thousand threads, each thirty calls deep."""
    return build(tmp_path_factory.mktemp("thousand"), "thousand", THOUSAND)


HUGE = Path("/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1")  # 100,000 functions


@pytest.fixture(scope="module")
def huge(tmp_path_factory: pytest.TempPathFactory) -> Crash:
    """A program with HUGE among its modules."""
    folder = tmp_path_factory.mktemp("huge")
    return build(
        folder, "huge", "int main(void) { __builtin_trap(); }", f"-Wl,--no-as-needed {HUGE}"
    )


def seconds_to_the_prompt(child: pexpect.spawn, command: str, after: float) -> float | None:
    """None when the command was over before it was interrupted."""
    child.sendline(command)
    child.expect_exact("\n")
    time.sleep(after)
    began = time.monotonic()
    child.sendintr()
    child.expect_exact(PROMPT)
    took = time.monotonic() - began
    assert "Traceback" not in child.before
    return took if "Quit" in child.before else None


def interrupted(child: pexpect.spawn, command: str, after: float) -> None:
    took = [seconds_to_the_prompt(child, command, after) for _ in range(ATTEMPTS)]
    child.sendline("echo still alive\\n")
    child.expect_exact("\nstill alive")
    child.close(force=True)
    assert None not in took, "the command was over too soon"
    assert min(one for one in took if one is not None) < WITHIN


@pytest.mark.parametrize("after", [0.1, 0.6])
@pytest.mark.parametrize("command", ["whocall bt", "whocall bt -full", "whocall compare"])
def test_a_hundred_thousand_frames(deep: Crash, command: str, after: float) -> None:
    interrupted(terminal(deep, "-iex", "set height 0"), command, after)


@pytest.mark.parametrize("command", ["whocall bt -all", "thread apply all whocall bt"])
def test_a_thousand_threads(thousand: Crash, command: str) -> None:
    interrupted(terminal(thousand, "-iex", "set height 0"), command, 0.15)


@pytest.mark.parametrize("after", [0.15, 0.4, 1.0])
def test_the_audit_of_a_huge_file(chain: Crash, after: float) -> None:
    interrupted(terminal(chain, "-iex", "set height 0"), f"whocall audit {HUGE}", after)


@pytest.mark.parametrize("after", [0.3, 0.8])
def test_the_function_table_of_a_huge_module(huge: Crash, after: float) -> None:
    command = "whocall functions -module libLLVM-14.so.1"
    interrupted(terminal(huge, "-iex", "set height 0"), command, after)


LOAD = """
import os, signal, sys
from importlib.machinery import ExtensionFileLoader
from whocall import loader
create = ExtensionFileLoader.create_module
def interrupted(self, spec):
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000): pass
    module = create(self, spec)
    print("created")
    return module
ExtensionFileLoader.create_module = interrupted
try: loader.load()
except KeyboardInterrupt: print("interrupted")
loader.load()
print("loaded", sys.modules[loader.NAME].__version__ != "")
"""


def test_an_interrupt_does_not_leave_half_a_native_module() -> None:
    said = batch([f"python\n{LOAD.strip()}"])
    assert said.out.splitlines() == ["created", "interrupted", "loaded True"], said.err
