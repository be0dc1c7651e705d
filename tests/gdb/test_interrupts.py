"""Ctrl-C, in the middle of whatever takes long, gives the prompt back within 0.2 seconds.

The machine may be busy with other things: of eight attempts one has to be in time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest
from programs import Crash, shared
from sessions import batch
from terminals import PROMPT, goes_on, terminal

WITHIN = 0.2  # seconds from the key to the prompt
ATTEMPTS = 8
Sessions = Callable[[Crash], pexpect.spawn]

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
def thousand() -> Crash:
    """A thousand threads, each thirty calls deep."""
    return shared("thousand", THOUSAND)


HUGE = Path("/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1")  # 100,000 functions


@pytest.fixture(scope="module")
def huge() -> Crash:
    """A program with HUGE among its modules."""
    return shared("huge", "int main(void) { __builtin_trap(); }", f"-Wl,--no-as-needed {HUGE}")


# The next attempt finds nothing that the one before has learned.
FORGET = [
    "python import whocall.gdb.target.inferior as i; i.forget()",
    "maintenance flush register-cache",
]


def seconds_to_the_prompt(child: pexpect.spawn, command: str, after: float) -> float:
    child.sendline(command)
    child.expect_exact("\n")
    time.sleep(after)
    began = time.monotonic()
    child.sendintr()
    child.expect_exact(PROMPT)
    took = time.monotonic() - began
    assert "Traceback" not in child.before
    assert "Quit" in child.before, "the command was over too soon"
    goes_on(child)
    return took


def interrupted(child: pexpect.spawn, command: str, after: float) -> None:
    took: list[float] = []
    while len(took) < ATTEMPTS and min(took, default=WITHIN) >= WITHIN:
        for forget in FORGET:
            child.sendline(forget)
            child.expect_exact(PROMPT)
        took.append(seconds_to_the_prompt(child, command, after))
    assert min(took) < WITHIN, took


@pytest.fixture(scope="module")
def sessions() -> Iterator[Sessions]:
    """gdb on a core; the same for all that ask for the same core."""
    opened: dict[Crash, pexpect.spawn] = {}

    def session(crash: Crash) -> pexpect.spawn:
        if crash not in opened:
            opened[crash] = terminal(crash, "-iex", "set auto-solib-add off")
        return opened[crash]

    yield session
    for child in opened.values():
        child.close(force=True)


@pytest.mark.parametrize("after", [0.1, 0.6])
@pytest.mark.parametrize("command", ["bt -no-fold", "bt -no-fold -full", "bt -json", "compare"])
def test_a_hundred_thousand_frames(
    deep: Crash, sessions: Sessions, command: str, after: float
) -> None:
    interrupted(sessions(deep), f"whocall {command}", after)


@pytest.mark.parametrize("command", ["whocall bt -all", "thread apply all whocall bt"])
def test_a_thousand_threads(thousand: Crash, sessions: Sessions, command: str) -> None:
    interrupted(sessions(thousand), command, 0.15)


@pytest.mark.parametrize("after", [0.15, 0.4, 1.0])
def test_the_audit_of_a_huge_file(huge: Crash, sessions: Sessions, after: float) -> None:
    interrupted(sessions(huge), f"whocall audit {HUGE}", after)


@pytest.mark.parametrize("after", [0.3, 0.8])
def test_the_function_table_of_a_huge_module(huge: Crash, sessions: Sessions, after: float) -> None:
    interrupted(sessions(huge), "whocall functions -module libLLVM-14.so.1", after)


LOAD = """
import os, signal, sys
from importlib.machinery import ExtensionFileLoader
from whocall.core import loader
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
