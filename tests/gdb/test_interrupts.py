"""Ctrl-C, in the middle of whatever takes long, gives the prompt back at once.

How soon that is on a busy machine is no matter; how much work is done before the next look is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import pexpect
import pytest
from oracles.distribution import llvm_library
from programs import Crash, shared
from sessions import batch
from terminals import PROMPT, goes_on, terminal

GUARD = 1.0  # seconds of processor time without a look: ten times what it takes
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


HUGE = llvm_library()  # 100,000 functions


@pytest.fixture(scope="module")
def huge() -> Crash:
    """A program with HUGE among its modules."""
    return shared("huge", "int main(void) { __builtin_trap(); }", f"-Wl,--no-as-needed {HUGE}")


# The next attempt finds nothing that the one before has learned.
FORGET = [
    "python import whocall.gdb.target.inferior as i; i.forget()",
    "maintenance flush register-cache",
]


def interrupted(child: pexpect.spawn, command: str, after: float) -> None:
    """Ctrl-C while the command runs; on a fast machine that may be earlier than asked for."""
    for attempt in range(ATTEMPTS):
        for forget in FORGET:
            child.sendline(forget)
            child.expect_exact(PROMPT)
        child.sendline(command)
        child.expect_exact("\n")
        time.sleep(after / 2**attempt)
        child.sendintr()
        child.expect_exact(PROMPT)
        in_time = "Quit" in child.before
        assert "Traceback" not in child.before
        goes_on(child)
        if in_time:
            return
    pytest.fail(f"{command} is over too soon, or does not hear Ctrl-C")


# A clock of processor time ticks, and each look at pending signals, which Ctrl-C is one of, runs
# the handler; ticks between two looks count once. `longest` is the most work done without a look,
# over the first half of a second.
TICK = 0.01
LOOKING = (
    f"TICK = {TICK}\n"
    + """
import signal, time
def looks(command):
    looks = [time.process_time()]
    def look(*_):
        looks.append(time.process_time())
        if looks[-1] - looks[0] > 0.5:
            signal.setitimer(signal.ITIMER_PROF, 0)
            raise KeyboardInterrupt
    signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, TICK, TICK)
    try: gdb.execute(command, to_string=True)
    except (KeyboardInterrupt, gdb.error):
        if looks[-1] - looks[0] <= 0.5: raise
    finally: signal.setitimer(signal.ITIMER_PROF, 0)
    looks.append(time.process_time())
    longest = max(b - a for a, b in zip(looks, looks[1:]))
    gdb.write('{looks} %d %.3f\\n' % (len(looks) - 2, longest))
"""
)


def longest_without_a_look(crash: Crash, commands: Sequence[str]) -> dict[str, float]:
    """In seconds of processor time."""
    asked = [f"python looks({command!r})" for command in commands]
    lines = [line for one in asked for line in (*FORGET, one)]
    settings = ["set auto-solib-add off", f"python\n{LOOKING.strip()}"]
    said = batch([*settings, *lines], [crash.exe, crash.core])
    told = [line.split() for line in said.out.splitlines() if line.startswith("{looks} ")]
    assert len(told) == len(commands), said
    # What is over within three ticks may have had none between two looks.
    assert all(int(times) or float(longest) < 3 * TICK for _, times, longest in told), told
    print(f"\n{told}", end="")
    return dict(zip(commands, (float(longest) for _, _, longest in told)))


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


DEEP_COMMANDS = ("bt -no-fold", "bt -no-fold -full", "bt -json", "compare")
THREAD_COMMANDS = ("whocall bt -all", "thread apply all whocall bt")
HUGE_COMMANDS = (f"whocall audit {HUGE}", f"whocall functions -module {HUGE.name}")


def test_work_looks_for_ctrl_c(deep: Crash, thousand: Crash, huge: Crash) -> None:
    found = {
        **longest_without_a_look(deep, [f"whocall {command}" for command in DEEP_COMMANDS]),
        **longest_without_a_look(thousand, THREAD_COMMANDS),
        **longest_without_a_look(huge, HUGE_COMMANDS),
    }
    assert max(found.values()) < GUARD, found


@pytest.mark.parametrize("after", [0.1, 0.6])
@pytest.mark.parametrize("command", DEEP_COMMANDS)
def test_a_hundred_thousand_frames(
    deep: Crash, sessions: Sessions, command: str, after: float
) -> None:
    interrupted(sessions(deep), f"whocall {command}", after)


@pytest.mark.parametrize("command", THREAD_COMMANDS)
def test_a_thousand_threads(thousand: Crash, sessions: Sessions, command: str) -> None:
    interrupted(sessions(thousand), command, 0.15)


@pytest.mark.parametrize("after", [0.15, 0.4, 1.0])
def test_the_audit_of_a_huge_file(huge: Crash, sessions: Sessions, after: float) -> None:
    interrupted(sessions(huge), HUGE_COMMANDS[0], after)


@pytest.mark.parametrize("after", [0.3, 0.8])
def test_the_function_table_of_a_huge_module(huge: Crash, sessions: Sessions, after: float) -> None:
    interrupted(sessions(huge), HUGE_COMMANDS[1], after)


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
