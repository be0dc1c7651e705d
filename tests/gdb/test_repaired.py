"""After `whocall repair` gdb's own commands do on stripped programs what they do on their twins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from places.needs import FIXED_ADDRESSES
from plugins import Plugin
from programs import HARD, Crash, shared
from sessions import batch
from stacks import PAST_MAIN, functions
from test_live import START

PROGRAM = """
#include <signal.h>
#include <stdlib.h>
#define OUT_OF_LINE __attribute__((noinline, noclone))
volatile int calls;
OUT_OF_LINE int deepest(int *p) { calls++; return 1 + *(volatile int *)p; }
OUT_OF_LINE int middle(int *p, int a, int b) {
  volatile int here[9]; int kept = a * 7 + calls;
  for (int i = 0; i < 9; i++) here[i] = a + i;
  int found = deepest(p);
  return found + kept + here[b & 7] + 1; }
OUT_OF_LINE int outer(int *p, int n) {
  int total = n + calls;
  for (int i = 0; i < n; i++) total += middle(p, i + total, n) * total;
  return total + 2; }
int main(int argc, char **argv) {
  int word = 5; (void)argv;
  int found = outer(&word, 2) + calls;
  if (argc > 0) found += outer(0, argc + 2);
  return found + calls; }
"""
FORMS = {
    "PIE": HARD,
    "fixed": f"{HARD} -no-pie",
    "static": f"{HARD} -static",
    "i386": f"{HARD} -m32",
}
OWN = ("deepest", "middle", "outer")
REPAIR = "whocall repair"
WALK = """python
f = gdb.newest_frame()
while f:
  if f.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME): print('pc', hex(f.pc()))
  f = f.older()
"""
SAVED = """python
f = gdb.newest_frame()
while f:
  known = [r.name for r in f.architecture().registers()]
  for name in 'rbx rbp r12 r13 r14 r15 rsp ebx ebp esi edi esp'.split():
    if name in known and not (name[0] == 'e' and 'rsp' in known):
      print('register', f.level() if hasattr(f, 'level') else '', name, f.read_register(name))
  f = f.older()
"""


def marked(*commands: str) -> list[str]:
    return [line for command in commands for line in ("echo \\n{mark}\\n", command)]


def parts(out: str) -> list[str]:
    return out.split("{mark}\n")[1:]


def trying(command: str) -> str:
    """What gdb says, also where that is an error."""
    return f"python\ntry: gdb.execute({command!r})\nexcept gdb.error as e: print(e)"


def lines(word: str, text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(f"{word} ")]


@pytest.fixture(scope="module", params=list(FORMS))
def crash(request: pytest.FixtureRequest) -> Crash:
    """deepest <- middle <- outer <- main, dead of a NULL pointer; its twin has all there is."""
    return shared("crash", PROGRAM, FORMS[request.param])


def names_of(crash: Crash) -> dict[str, str]:
    """How the program's own functions are called in the stripped program."""
    known = functions(crash.twin)
    return {name: f"sub_{known[name]:x}" for name in OWN}


def test_a_core_as_with_the_twin(crash: Crash) -> None:
    """Frames, the registers of each, code, names."""
    names = names_of(crash)
    looks = [WALK, SAVED, "disassemble {middle}", "x/3i {outer}", "print {deepest}",
             "info symbol {middle}", "frame function {outer}"]  # fmt: skip
    ours = marked(*[look.format(**names) if "{" in look else look for look in looks])
    true = marked(*[look.format(**{n: n for n in OWN}) if "{" in look else look for look in looks])
    said = batch([PAST_MAIN, REPAIR, *ours, *marked("bt")], [crash.exe, crash.core])
    twin = batch([PAST_MAIN, *true], [crash.twin, crash.core])
    found, expected = parts(said.out), parts(twin.out)
    assert lines("pc", found[0]) == lines("pc", expected[0]), said.err
    assert lines("register", found[1]) == lines("register", expected[1])
    assert len(lines("register", found[1])) > 20
    for at in (2, 3):
        code = [
            re.findall(r"^(?:=>)?\s+(0x\w+)", each[at], re.MULTILINE) for each in (found, expected)
        ]
        assert code[0] == code[1] != []
    assert re.search(rf"<{names['deepest']}>", found[4])
    assert found[5].startswith(f"{names['middle']} in section .text")
    assert found[6].startswith("#2 ")
    shown = [line for line in found[7].splitlines() if line.startswith("#")]
    assert [name in line for name, line in zip([*names.values(), "main"], shown)] == [True] * 4
    assert len(shown) >= len(lines("pc", found[0]))


LIVE: dict[str, Sequence[str]] = {
    "finish": ["finish"],
    "finish further out": ["up", "finish"],
    "many stepi": ["stepi 50"],
    "return": ["return", "stepi 3"],
    "deeper": ["tbreak *{deepest}", "continue"],
    "advance": ["advance *{deepest}"],
    "changed memory": ["set var *(int *)($sp - 64) = 0", "stepi"],
    "back at once": ["tbreak *{deepest}", "continue", "finish", "finish"],
}


@pytest.mark.needs(FIXED_ADDRESSES)
@pytest.mark.parametrize("crash", ["PIE", "i386"], indirect=True)
def test_a_live_program_as_the_twin(crash: Crash) -> None:
    """Each stop is where the twin stops, and so is the stack there; each time in a new run."""
    names = names_of(crash)
    runs = []
    for exe, called, before in (
        (crash.exe, names, [REPAIR]),
        (crash.twin, {name: name for name in OWN}, []),
    ):
        commands = [*START, PAST_MAIN, "set confirm off", *before]
        for steps in LIVE.values():
            commands += ["delete", f"break *{called['middle']}", "run", *marked(WALK)]
            commands += [trying(step.format(**called)) for step in steps] + marked(WALK)
        said = batch(commands, [exe])
        runs.append([lines("pc", part) for part in parts(said.out)])
        assert len(runs[-1]) == 2 * len(LIVE), said.err
    ours, twin = runs
    for at, what in enumerate(LIVE):
        assert len(ours[2 * at]) > 3, what
        assert ours[2 * at : 2 * at + 2] == twin[2 * at : 2 * at + 2], what


def test_breakpoints_by_name_are_hit(crash: Crash) -> None:
    """Behind the prologue, as everywhere."""
    names = names_of(crash)
    stops = [f"break {names[name]}" for name in OWN]
    said = batch([*START, REPAIR, *stops, "run", *marked(*["bt"] * 3), "continue", *marked("bt")],
                 [crash.exe])  # fmt: skip
    assert parts(said.out)[0].startswith("#0 "), said.err
    assert f"in {names['outer']} ()" in parts(said.out)[0].splitlines()[0]
    assert f"in {names['middle']} ()" in parts(said.out)[3].splitlines()[0]


def test_all_threads(workers: Crash) -> None:
    walk = "".join(f"  {line}\n" for line in WALK.splitlines()[1:])
    every = f"python\nfor t in gdb.selected_inferior().threads():\n  t.switch()\n{walk}"
    said = batch(
        [PAST_MAIN, REPAIR, *marked(every, "thread apply all bt")], [workers.exe, workers.core]
    )
    twin = batch([PAST_MAIN, *marked(every)], [workers.twin, workers.core])
    [found, text], [expected] = parts(said.out), parts(twin.out)
    assert lines("pc", found) == lines("pc", expected), said.err
    assert text.count("\nThread ") == 4
    assert text.count("#1 ") == 4
    assert " 0x0000000000000000 in" not in text


def test_a_library_that_was_loaded_late(plugin: Plugin) -> None:
    inner = f"sub_{functions(plugin.library_twin)['inner']:x}"
    said = batch(
        [*START, "set breakpoint pending on", REPAIR, "break entered", "run", *marked("bt"),
         f"break {inner}", "continue", *marked("bt", "up", "disassemble")],
        [plugin.exe],
    )  # fmt: skip
    loaded, stack, up, code = parts(said.out)
    assert "entered" in loaded
    assert inner in stack.splitlines()[0]
    assert "main" in stack
    assert "middle" in stack.splitlines()[1]
    assert "middle" in up
    assert "Dump of assembler code for function middle:" in code


def as_before(twin: Path, core: Path) -> None:
    """With symbols, lines and tables nothing of `bt` changes, arguments included.

    A C library without debug info gets names and arguments where gdb had none.
    """
    look = marked("thread apply all bt", "thread apply all bt -past-main", "info symbol $pc")
    said = batch([*look, *marked(REPAIR), *look], [twin, core])
    found = [re.sub(r" \(a1=.*\)", " ()", part.strip()) for part in parts(said.out)]
    found = [re.sub(r"in sub_\w+ \(\)", "in ?? ()", part) for part in found]
    assert found[4:] == found[:3], said.err
    assert "#1 " in found[0]


def test_a_healthy_program_looks_as_before(crash: Crash) -> None:
    as_before(crash.twin, crash.core)


def test_healthy_threads_look_as_before(workers: Crash) -> None:
    as_before(workers.twin, workers.core)
