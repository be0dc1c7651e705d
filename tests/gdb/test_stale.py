"""Whatever happens to the program, nothing of what was known before is shown again."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from places.needs import NOT_SHOWN
from programs import Crash, compiled
from sessions import batch
from test_live import START

LOOK = ["echo \\n{bt}\\n", "whocall bt -full 6", "echo {end}\\n"]
FORGET = "python from whocall.gdb.target.inferior import forget; forget()"

FORKING = """
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#define OUT_OF_LINE __attribute__((noinline, noclone))
volatile int calls;
OUT_OF_LINE void stopping(void) { calls++; raise(SIGTRAP); calls++; }
OUT_OF_LINE void in_child(void) { calls++; stopping(); calls++; }
OUT_OF_LINE void in_parent(void) { calls++; stopping(); calls++; }
int main(void) {
  pid_t child = fork();
  if (child == 0) { in_child(); _exit(0); }
  in_parent();
  waitpid(child, 0, 0);
  return 0; }
"""


@pytest.fixture(scope="module")
def forking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Parent and child stop in functions of their own. With symbols: `break` needs them."""
    return compiled(tmp_path_factory.mktemp("forking"), "forking", FORKING)


def views(said: str) -> list[str]:
    """What stands between the marks of LOOK."""
    return [part.split("{end}\n", 1)[0] for part in said.split("{bt}\n")[1:]]


def zeros(folder: Path) -> Path:
    file = folder / "zeros"
    file.write_bytes(bytes(512))
    return file


CHANGES = {
    "a word of the stack": (["run"], ["set {long}($sp + 8) = 0", "set {long}$sp = 0"]),
    "memory by Python": (
        ["run"],
        ["python gdb.selected_inferior().write_memory(int(gdb.parse_and_eval('$sp')), bytes(64))"],
    ),
    "memory by restore": (
        ["run"],
        ["python gdb.execute('restore {zeros} binary %d 0 128' % gdb.parse_and_eval('(long)$sp'))"],
    ),
    "a register": (["run"], ["set var $sp = $sp + 8"]),
    "return": (["run"], ["return"]),
    "a call of a function": (["run"], ["set unwindonsignal off", "call (int)abort()"]),
    "a breakpoint in a call": (["break innermost", "run"], ["call (int)sorting($sp)"]),
    "a checkpoint": (["break sorting", "run", "checkpoint", "continue"], ["restart 1"]),
    "a step": (["break sorting", "run"], ["stepi", "stepi"]),
    "a step back": (
        ["break sorting", "run", "record", "stepi", "stepi"],
        ["reverse-stepi"],
    ),
    "a place in a record": (
        ["break sorting", "run", "record", "stepi", "stepi"],
        ["record goto begin"],
    ),
}


MAY_KILL_GDB = ("a checkpoint",)
"""gdb 13 dies of an internal error there on some machines, and takes its whole session with it."""
TOGETHER = tuple(what for what in CHANGES if what not in MAY_KILL_GDB)


def seen(what: Sequence[str], chain: Crash, folder: Path) -> dict[str, list[str]]:
    """In one session before each change, after it, and with everything forgotten; one run of the
    program each.
    """
    file = zeros(folder)
    commands = [*START]
    for before, change in map(CHANGES.__getitem__, what):
        tried = [f"python\ntry: gdb.execute({line!r})\nexcept gdb.error as e: print(e)"
                 if not line.startswith("python") else line.replace("{zeros}", str(file))
                 for line in change]  # fmt: skip
        commands += [*before, *LOOK, *tried, *LOOK, FORGET, *LOOK, "kill", "delete"]
    said = batch(commands, [chain.twin])
    found = views(said.out)
    if tuple(what) == MAY_KILL_GDB and said.status < 0 and dies_of_itself(chain):
        pytest.skip(f"{NOT_SHOWN}: a checkpoint, at which this gdb dies of itself on this machine")
    assert len(found) == 3 * len(what), said
    return {each: found[3 * at : 3 * at + 3] for at, each in enumerate(what)}


def dies_of_itself(chain: Crash) -> bool:
    """Whether gdb ends at a checkpoint, too, where nobody has told it of whocall."""
    (change,) = (CHANGES[what] for what in MAY_KILL_GDB)
    commands = [*START, *change[0], "bt", *change[1], "bt", "kill"]
    return batch(commands, [chain.twin], script=None).status < 0


@pytest.fixture(scope="module")
def changes(chain: Crash, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What can share a session."""
    return seen(TOGETHER, chain, tmp_path_factory.mktemp("zeros"))


def assert_seen(views_of_one: list[str]) -> None:
    old, now, fresh = views_of_one
    assert "#0 " in old
    assert now == fresh
    assert now != old


@pytest.mark.parametrize("what", TOGETHER)
def test_a_change_of_the_program_is_seen(what: str, changes: dict[str, list[str]]) -> None:
    assert_seen(changes[what])


@pytest.mark.parametrize("what", MAY_KILL_GDB)
def test_a_change_that_may_kill_gdb_is_seen(what: str, chain: Crash, tmp_path: Path) -> None:
    assert_seen(seen([what], chain, tmp_path)[what])


def test_each_of_two_processes_has_its_own_stack(forking: Path) -> None:
    said = batch(
        [*START, "set detach-on-fork off", "run", *LOOK, "inferior 2", *LOOK, "continue", *LOOK,
         "inferior 1", *LOOK, "kill", "inferior 2", *LOOK, "whocall bt -all",
         "detach", "whocall bt"],
        [forking],
    )  # fmt: skip
    parent, child, in_child, again, left = views(said.out)
    assert "in_parent" in parent
    assert "fork" in child
    assert "in_child" in in_child
    assert again == parent
    assert left == in_child
    assert "\nThread 2.1 (LWP " in said.out
    assert "The program has no registers now." in said.err


def test_two_cores_at_once(chain: Crash, workers: Crash) -> None:
    add = ["add-inferior -no-connection", "inferior 2", f"file {workers.exe}",
           f"core-file {workers.core}"]  # fmt: skip
    said = batch(
        [*LOOK, *add, *LOOK, "inferior 1", *LOOK, "thread apply all -q whocall bt 1",
         "thread 2.3", "whocall bt -all 1", "whocall compare -all"],
        [chain.exe, chain.core],
    )  # fmt: skip
    assert said.status == 0, said.err
    one, two, one_again = views(said.out)
    assert " from chain " in one
    assert "abort" in two
    assert one.replace(" thread 1 ", " thread 1.1 ") == one_again  # of two there are two threads 1
    after = said.out.split("{end}\n")[-1]
    assert len(re.findall("^#0 ", after.split("Switching")[0], re.MULTILINE)) == 5
    titles = [line for line in after.splitlines() if line.startswith("Thread")]
    assert [title.split(" (LWP")[0] for title in titles] == [
        "Thread 2.1", "Threads 2.2..2.4", "Thread 2.1", "Threads 2.2..2.4",
    ]  # fmt: skip


def test_another_core_at_the_same_path(chain: Crash, workers: Crash, tmp_path: Path) -> None:
    core = tmp_path / "core"
    shutil.copy(chain.core, core)
    copy = f"python import shutil; shutil.copy('{workers.core}', '{core}')"
    said = batch(
        [f"core-file {core}", *LOOK, copy,
         f"file {workers.exe}", f"core-file {core}", *LOOK, "core-file", "whocall bt"]
    )  # fmt: skip
    old, now = views(said.out)
    assert "SIGABRT" in said.out
    assert "abort" in now
    assert "abort" not in old
    assert "The program has no registers now." in said.err


def test_another_program_at_the_same_path(chain: Crash, workers: Crash, tmp_path: Path) -> None:
    program = tmp_path / "program"
    shutil.copy(chain.exe, program)
    copy = f"python import os; os.unlink('{program}'); shutil.copy('{workers.exe}', '{program}')"
    said = batch(
        [*START, f"file {program}", "run", *LOOK, "kill", f"python import shutil\n{copy[7:]}",
         f"file {program}", "run", *LOOK]
    )  # fmt: skip
    old, now = views(said.out)
    assert "abort" in now
    assert "abort" not in old


def test_a_thread_that_ends_is_gone(workers: Crash) -> None:
    ended = ["thread 3", "set scheduler-locking on", "call (void)pthread_exit(0)", "thread 1"]
    said = batch([*START, "run", "whocall bt -all", *ended, *LOOK[:1], "whocall bt -all"],
                 [workers.twin])  # fmt: skip
    assert "[3 threads, same stack]" in said.out
    [now] = views(said.out)
    assert "[2 threads, same stack]" in now, said.out


def test_an_image_is_kept_as_long_as_it_holds(chain: Crash) -> None:
    begin = "python from whocall.gdb.target.inferior import current;"
    look = f"{begin} print('image', id(current().image))"
    said = batch([*START, "run", look, look, "x/4gx $sp", "up", look], [chain.exe])
    images = {line for line in said.out.splitlines() if line.startswith("image")}
    assert len(images) == 1
