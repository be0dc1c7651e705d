"""A stack of which gdb finds no frame by itself is led through in few looks."""

from __future__ import annotations

import re
from pathlib import Path

from programs import shared
from sessions import batch

DEPTH = 400
RECURSION = f"""
#include <stdlib.h>
__attribute__((noinline)) int deeper(volatile int n) {{
  volatile int room[9]; room[n % 9] = n;
  if (n == 0) abort();
  return deeper(n - 1) + room[n % 9]; }}
int main(void) {{ return deeper({DEPTH}); }}
"""
# Nothing is handed to gdb, and every step says that gdb finds its caller: what is left is looking.
LOOKS = """
from dataclasses import replace
from whocall.gdb.repair import reconcile
looks = 0
def counted(limit, pcs=reconcile._gdb_pcs):
    global looks
    looks += 1
    return pcs(limit)
reconcile._gdb_pcs = counted
found, chains = reconcile.process_plan(reconcile.RepairRequest(every_thread=False))
chains = {
    number: replace(chain, steps=tuple(replace(step, ruled=True) for step in chain.steps))
    for number, chain in chains.items()
}
_, (outcome,) = reconcile.reconcile(chains, found.registers, lambda: [])
print("after", outcome.after.true, "of", outcome.frames, "led", outcome.overridden, "looks", looks)
"""


def test_looks(tmp_path: Path) -> None:
    """Twice as many frames make a few looks more."""
    crash = shared("led", RECURSION)
    script = tmp_path / "looks.py"
    script.write_text(LOOKS)
    ran = batch([f"source {script}"], [crash.exe, crash.core])
    told = re.search(r"after (\d+) of (\d+) led (\d+) looks (\d+)$", ran.out, re.MULTILINE)
    assert told, ran
    after, frames, led, looks = map(int, told.groups())
    assert after == frames > DEPTH
    assert led > DEPTH // 2, "gdb finds the frames by itself: nothing is tested"
    assert looks < 45
