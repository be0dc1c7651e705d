"""A recursion without end: more than a hundred thousand frames, told in a few lines and held in
little memory.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from programs import Crash, shared
from sessions import SCRIPT, batch

ENDLESS = """
__attribute__((noinline)) int odd(volatile int n);
__attribute__((noinline)) int even(volatile int n) {
  volatile long room[3] = {n}; return odd(n + 1) + (int)room[0]; }
__attribute__((noinline)) int odd(volatile int n) {
  volatile long room[3] = {n}; return even(n + 1) + (int)room[0]; }
int main(void) { return even(0) + 1; }
"""
FEWEST = 120_000  # frames that the stack has room for
# Not ru_maxrss: a program inherits that of the one that started it.
PEAK = "python print('kB', open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
MOST_KB = 500_000  # gdb itself takes a fifth of it; a kilobyte a frame would be too much


@pytest.fixture(scope="module")
def endless() -> Crash:
    """main -> even -> odd -> even -> ... until the stack is full."""
    return shared("endless", ENDLESS)


def outside(crash: Crash, *options: str) -> str:
    ran = subprocess.run(
        [sys.executable, SCRIPT, "bt", crash.core, crash.exe, *options],
        env=dict(os.environ), capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return ran.stdout


def peak_kb(out: str) -> int:
    return int(out.rsplit("kB ", 1)[1])


def levels(lines: list[str]) -> list[int]:
    return [int(found[1]) for found in (re.match(r"#(\d+) +0x", line) for line in lines) if found]


def test_text_is_folded_and_counts(endless: Crash) -> None:
    said = batch(["echo {bt}\\n", "whocall bt", PEAK], [endless.exe, endless.core])
    told = said.out.split("{bt}\n")[1].splitlines()[:-1]
    lines = [line for line in told if line.startswith(("#", "..."))]
    assert len(told) < 14
    (at,) = [at for at, line in enumerate(lines) if line.startswith("...")]
    found = re.match(
        r"\.\.\. ([\d,]+) frames: the 2 frames above repeated ([\d,]+) times \.\.\.\Z", lines[at]
    )
    assert found is not None, lines[at]
    frames, times = (int(number.replace(",", "")) for number in found.groups())
    assert frames == 2 * times > FEWEST
    shown = levels(lines)
    assert shown[:at] == list(range(at))
    assert shown[at] == at + frames
    assert shown[at:] == list(range(at + frames, at + frames + len(shown) - at))
    assert peak_kb(said.out) < MOST_KB
    beside_gdbs = told.pop()  # a shell has no frames of gdb's
    assert beside_gdbs.startswith('gdb\'s own "bt" has other frames from #')
    assert outside(endless).splitlines() == told


def test_without_folding_every_frame_is_there(endless: Crash) -> None:
    last = levels(outside(endless).splitlines())[-1]
    assert levels(outside(endless, "--no-fold").splitlines()) == list(range(last + 1))


def test_folding_may_be_switched_off(endless: Crash) -> None:
    commands = ["echo {mark}\\n", "whocall bt -no-fold 200", "echo {mark}\\n"]
    commands += [
        "set whocall fold off",
        "whocall bt 200",
        "show whocall fold",
        "echo {mark}\\n",
        "set whocall fold on",
    ]
    said = batch([*commands, "whocall bt 200", "whocall bt -3"], [endless.exe, endless.core])
    once, off, on = (part.splitlines() for part in said.out.split("{mark}\n")[1:])
    assert levels(once) == levels(off) == list(range(200))
    assert off[-1] == "Folding of frames that repeat is off."
    assert len(levels(on)) < 12  # COUNT counts frames, not lines
    assert [line for line in on if line.startswith("... ")]
    assert "(More stack frames follow...)" in on
    last = levels(on[on.index("(More stack frames follow...)") :])
    assert len(last) == 3 and last == list(range(last[0], last[0] + 3))


def test_json_is_whole_and_takes_little_memory(endless: Crash) -> None:
    said = batch(["echo {bt}\\n", "whocall bt -json", PEAK], [endless.exe, endless.core])
    found = json.loads(said.out.split("{bt}\n")[1].rsplit("kB ", 1)[0])
    frames = found["threads"][0]["frames"]
    assert [frame["level"] for frame in frames] == list(range(len(frames)))
    assert len(frames) > FEWEST
    assert peak_kb(said.out) < MOST_KB


def test_full_is_folded_and_takes_little_memory(endless: Crash) -> None:
    said = batch(["echo {bt}\\n", "whocall bt -full", PEAK], [endless.exe, endless.core])
    assert len(levels(said.out.split("{bt}\n")[1].splitlines())) < 12
    assert peak_kb(said.out) < MOST_KB


def test_repair_keeps_a_part_of_it_and_says_so(endless: Crash) -> None:
    commands = ["whocall repair", PEAK, "bt 9"]
    said = batch(commands, [endless.exe, endless.core])
    match = re.search(
        r"^Thread 1: gdb (?:had .*; now it )?has all the innermost 4,096 frames\."
        r" The ([\d,]+) frames further out were not looked at\.$",
        said.out,
        re.MULTILINE,
    )
    assert match is not None, said.out
    assert int(match[1].replace(",", "")) > FEWEST - 4096
    assert int(re.findall(r"^kB (\d+)$", said.out, re.MULTILINE)[0]) < MOST_KB
    shown = re.findall(r"^#\d+ +0x\w+ in (sub_\w+) \(.*\)$", said.out, re.MULTILINE)
    assert len(set(shown)) == 2 and len(shown) >= 9
