"""Ctrl-C, in the middle of whatever takes long, gives the prompt back at once.

How soon that is on a busy machine is no matter; how much work is done before the next look is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pexpect
import pytest
from oracles.distribution import llvm_library
from programs import Crash, shared
from sessions import batch
from terminals import PROMPT, goes_on, terminal

GUARD = 1.0  # seconds of processor time without a look: ten times what it takes
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


# What is read in gdb itself, as live programs are; of cores test_helper.py has as much.
IN_GDB = "set whocall helper off"

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


# What the command does is counted: calls in whocall's code, and each look that native code takes in
# long work, which tells each time when nobody's patience is asked for. At the one that is wanted,
# it says so and goes on only when Ctrl-C has come. (A generator may be at its end, which nobody who
# throws it away can be told of.)
HOLDING = """
import os, sys, time
from whocall.base import long_work
long_work.PATIENCE = 0
GENERATOR = 0x20
class Held:
    def __init__(self, at): self.count, self.at = 0, at
    def __call__(self, frame, event, argument):
        if event != 'call' or frame.f_code.co_flags & GENERATOR: return
        if not frame.f_globals.get('__name__', '').startswith('whocall.'): return
        self.count += 1
        if self.count == self.at:
            sys.setprofile(None)
            os.write(1, b'{at work}')
            while True: time.sleep(1)
"""


def know_how_to_hold(child: pexpect.spawn) -> None:
    """What `interrupted` needs in a session."""
    child.sendline(IN_GDB)
    said_at_the_end(child)
    for line in ("python", *HOLDING.strip().splitlines()):
        child.sendline(line)
    child.sendline("end")
    said_at_the_end(child)


def interrupted(child: pexpect.spawn, command: str, call: int) -> None:
    """Ctrl-C at that call of the command's, in a session that knows how to hold."""
    for line in (*FORGET, f"python sys.setprofile(Held({call}))"):
        child.sendline(line)
        said_at_the_end(child)
    child.sendline(command)
    assert child.expect_exact(["{at work}", PROMPT]) == 0, f"{command} never comes so far"
    child.sendintr()
    assert "Quit" in said_at_the_end(child)
    goes_on(child)


def said_at_the_end(child: pexpect.spawn) -> str:
    child.expect_exact(PROMPT)
    said: str = child.before
    assert "Traceback" not in said, said
    return said


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
    settings = [IN_GDB, "set auto-solib-add off", f"python\n{LOOKING.strip()}"]
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
            know_how_to_hold(opened[crash])
        return opened[crash]

    yield session
    for child in opened.values():
        child.close(force=True)


# Each with a call in the middle of its work; it makes half as many again, or many times as many,
# and fewer where the session knows the modules already.
DEEP_COMMANDS = {
    "whocall bt -no-fold": 600,
    "whocall bt -no-fold -full": 100_000,
    "whocall bt -json": 600,
    "whocall compare": 100_000,
}
THREAD_COMMANDS = {"whocall bt -all": 60, "thread apply all whocall bt": 50_000}
HUGE_COMMANDS = {
    f"whocall audit {HUGE}": 10_000,
    f"whocall functions -module {HUGE.name}": 400,
}
EARLY = 20


def calls(commands: Mapping[str, int]) -> list[tuple[str, int]]:
    return [
        each for command, late in commands.items() for each in ((command, EARLY), (command, late))
    ]


def test_work_looks_for_ctrl_c(deep: Crash, thousand: Crash, huge: Crash) -> None:
    found = {
        **longest_without_a_look(deep, [*DEEP_COMMANDS]),
        **longest_without_a_look(thousand, [*THREAD_COMMANDS]),
        **longest_without_a_look(huge, [*HUGE_COMMANDS]),
    }
    assert max(found.values()) < GUARD, found


@pytest.mark.parametrize(("command", "call"), calls(DEEP_COMMANDS))
def test_a_hundred_thousand_frames(
    deep: Crash, sessions: Sessions, command: str, call: int
) -> None:
    interrupted(sessions(deep), command, call)


@pytest.mark.parametrize(("command", "call"), calls(THREAD_COMMANDS))
def test_a_thousand_threads(thousand: Crash, sessions: Sessions, command: str, call: int) -> None:
    interrupted(sessions(thousand), command, call)


@pytest.mark.parametrize(("command", "call"), calls(HUGE_COMMANDS))
def test_a_huge_file(huge: Crash, sessions: Sessions, command: str, call: int) -> None:
    interrupted(sessions(huge), command, call)


LOAD = """
import os, signal, sys
from importlib.machinery import ExtensionFileLoader
from whocall.base import loader
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


# The functions of whocall that gdb calls by itself.
ENTERED = """
import sys
entered = set()
def note(frame, event, argument):
    if event == 'call' and frame.f_back is None:
        if frame.f_globals.get('__name__', '').startswith('whocall.'):
            entered.add(frame.f_code.co_name)
sys.setprofile(note)
"""


def test_no_event_of_gdbs_runs_lines(workers: Crash) -> None:
    """An interrupt in them would be printed, and lost to the command that gdb is in."""
    commands = ["whocall bt", "whocall repair", "add-symbol-file", "whocall revert", "whocall bt"]
    asked = [
        f"add-symbol-file {workers.twin}" if line == "add-symbol-file" else line
        for line in commands
    ]
    show = "python gdb.write('{entered} %s\\n' % ' '.join(sorted(entered)))"
    said = batch(
        [IN_GDB, "set confirm off", f"python\n{ENTERED.strip()}", *asked, show],
        [workers.exe, workers.core],
    )
    (line,) = (line for line in said.out.splitlines() if line.startswith("{entered}"))
    assert line.split()[1:] == ["invoke"], said
