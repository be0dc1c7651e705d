"""musl's libc has no unwind tables, and names of what it exports alone: its code leads through it.

The oracle of the static program's names is its symbol table; of the shared library, which is
stripped, those of its functions that nobody else exports are `?`.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from runtime.lab import LIBRARIES, build

_FRAME = re.compile(r"^#\d+ +0x\w+ \S+ (\?|[\w.]+\+0x\w+) \[([\w-]+)\]$")
# What the static program and the one with the shared library say, from the inside out.
WAYS = {
    "qsort": ("show compare sift __qsort_r work main", "show compare ? qsort_r work main"),
    "bsearch": ("show compare bsearch work main", "show compare bsearch work main"),
    "exit": (
        "show at_end __funcs_on_exit exit work main",
        "show at_end ? exit work main",
    ),
    "thread": ("show in_thread start", "show in_thread ?"),
}
# From a signal's context; the handler's own callers are the same behind it and the trampoline.
CRASHES = {
    "abort": ("__restore_sigs raise abort work main", "? raise abort work main"),
    # musl stops where it sees that the heap is damaged; free() jumps to what frees.
    "heap": ("get_meta __libc_free work main", "? ? work main"),
    "puts": ("strlen fputs_unlocked puts work main", "strlen fputs_unlocked puts work main"),
}


@pytest.fixture(scope="module", params=["static", "shared", "stripped"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("musl")
    flags = ("-O1", *(["-static"] if request.param == "static" else []))
    library = str(LIBRARIES / "libwhocall.a")
    made = build(folder, "musl.c", *flags, library, compiler="musl-gcc", name=request.param)
    if request.param == "stripped":
        subprocess.run(["strip", made], check=True)
    return made


def _asked(program: Path, way: str) -> list[tuple[str, str]]:
    """Names and trust."""
    # As a shell would start it: musl names the program by these words.
    command = [f"./{program.name}", way]
    ran = subprocess.run(
        command, cwd=program.parent, capture_output=True, text=True, check=True, timeout=60
    )
    found = (_FRAME.match(line) for line in ran.stdout.splitlines())
    return [(one[1].partition("+")[0], one[2]) for one in found if one]


def _wanted(program: Path, names: tuple[str, str]) -> list[str]:
    """Without its symbols, what the program itself brings has no name."""
    wanted = names[0 if program.name == "static" else 1].split()
    own = {"show", "compare", "work", "main", "at_end", "in_thread", "handler"}
    return ["?" if program.name == "stripped" and name in own else name for name in wanted]


@pytest.mark.parametrize("way", WAYS)
def test_asked_from_below_it(program: Path, way: str) -> None:
    wanted = _wanted(program, WAYS[way])
    frames = _asked(program, way)
    assert [name for name, _ in frames[: len(wanted)]] == wanted
    assert len(frames) <= len(wanted) + 2  # what has called main or the thread's function
    assert {trust for _, trust in frames} <= {"context", "cfi", "analysis"}


@pytest.mark.parametrize("way", CRASHES)
def test_a_crash_in_it(program: Path, way: str) -> None:
    wanted = _wanted(program, CRASHES[way])
    names = [name for name, _ in _asked(program, way)]
    assert names[: len(wanted)] == wanted
    behind = _wanted(program, ("show handler __restore_rt", "show handler ?"))
    at = len(names) // 2 - 1
    assert names[at : at + len(behind)] == behind
    assert names[at + len(behind) :] == names[:at]
