"""`whocall frame N` selects the frame that has this number in whocall's backtrace."""

from __future__ import annotations

import json
import re

import pytest
from programs import Crash, shared
from sessions import batch, refusals

LOST = """
#define OUT_OF_LINE __attribute__((noinline, noclone))
OUT_OF_LINE int inner(int *p) { volatile char pad[3000]; pad[0] = 1; return *p + pad[0]; }
OUT_OF_LINE int middle(int *p) { volatile char pad[5000]; pad[1] = 2; return inner(p) + pad[1]; }
OUT_OF_LINE int outer(int *p) { volatile char pad[300]; pad[2] = 3; return middle(p) + pad[2]; }
int main(void) { return outer(0) + 1; }
"""
# gdb takes what `saving` saved of main's, a 1, for a return address.
INVENTED = """
#define OUT_OF_LINE __attribute__((noinline, noclone))
OUT_OF_LINE int innermost(int *p) { return 1 + *(volatile int *)p; }
OUT_OF_LINE int saving(int *kept) { return innermost(0) + *kept; }
int main(int argc, char **argv) { int v[4] = {argc, 3, 2, 1}; return saving(v) + argc; }
"""
INLINED = """
#include <stdlib.h>
static volatile int zero;
static inline __attribute__((always_inline)) int inner(int *p) { return *p + zero; }
static inline __attribute__((always_inline)) int middle(int *p) { return inner(p) + 1; }
__attribute__((noinline)) int outer(int *p) { return middle(p) + zero; }
int main(void) { return outer(0) + 1; }
"""


def pcs(text: str) -> dict[int, int]:
    """Of a backtrace, by level."""
    found = re.findall(r"^#(\d+) +0x([0-9a-f]+) in", text, re.MULTILINE)
    return {int(level): int(pc, 16) for level, pc in found}


def session(crash: Crash, *commands: str) -> list[str]:
    marked = [line for command in commands for line in (f"echo <{{{command}}}>\\n", command)]
    said = batch(marked, [crash.exe, crash.core])
    return [part.partition("}>\n")[2] for part in said.out.split("<{")[1:]]


def test_a_frame_that_gdb_lacks_is_there_after_a_repair() -> None:
    crash = shared("lost", LOST)
    shown, gdbs, first, pc, again = session(
        crash, "whocall bt", "bt", "whocall frame 2", "print/x (long) $pc", "whocall frame 3"
    )
    assert "#2" not in gdbs
    assert 'gdb had no such frame: thread 1 was repaired.  "whocall revert" takes' in first
    assert int(pc.split("0x")[1], 16) == pcs(shown)[2]
    assert "repaired" not in again
    assert f"#3  0x{pcs(shown)[3]:016x} in main" in again


@pytest.mark.parametrize("level", [0, 1])
def test_a_frame_that_gdb_has_is_taken_as_it_is(chain: Crash, level: int) -> None:
    shown, said, pc = session(chain, "whocall bt", f"whocall frame {level}", "print/x (long) $pc")
    assert "repaired" not in said
    assert int(pc.split("0x")[1], 16) == pcs(shown)[level]


def test_every_number_of_the_backtrace_is_its_frames(chain: Crash) -> None:
    for crash in (chain, shared("invented", INVENTED)):
        shown = pcs(session(crash, "whocall bt")[0])
        commands = [
            line for level in shown for line in (f"whocall frame {level}", "print/x (long) $pc")
        ]
        for level, pc in zip(shown, session(crash, *commands)[1::2]):
            assert int(pc.split("0x")[1], 16) == shown[level], level


def test_inlined_calls_are_counted() -> None:
    crash = shared("inlined", INLINED)
    commands = ("whocall frame 0", "whocall frame 1", "whocall frame 2", "whocall frame 3")
    said = batch(commands, [crash.twin, crash.core]).out
    assert re.findall(r"^#(\d)  (?:0x\w+ in )?(\w+) \(", said, re.MULTILINE)[-4:] == [
        ("0", "inner"), ("1", "middle"), ("2", "outer"), ("3", "main"),
    ]  # fmt: skip


def test_what_is_no_frame_is_refused(chain: Crash) -> None:
    questions = {
        "whocall frame": "takes the number of a frame",
        "whocall frame x": "takes the number of a frame",
        "whocall frame 4000": "there is no frame 4000",
    }
    found = refusals(questions, [chain.exe, chain.core])
    for question, wanted in questions.items():
        assert wanted in found[question]


REMARK = re.compile(
    r"^gdb's own \"bt\" (?:has other frames|gives frames other numbers) from #(\d+) on;"
    r" \"whocall frame N\" selects these\.$",
    re.MULTILINE,
)


def test_other_numbers_than_gdbs_are_told_below_the_backtrace() -> None:
    crash = shared("lost", LOST)
    shown, gdbs, _, repaired = session(crash, "whocall bt", "bt", "whocall frame 2", "whocall bt")
    ours, theirs = pcs(shown), pcs(gdbs)
    first = next(level for level in ours if theirs.get(level) != ours[level])
    assert REMARK.findall(shown) == [str(first)]
    assert shown.rstrip().endswith(" selects these.")
    assert not REMARK.search(repaired)
    one, last, data = session(crash, "whocall bt 1", "whocall bt -1", "whocall bt -json")
    assert not REMARK.search(one)
    assert REMARK.findall(last) == [str(max(pcs(shown)))]
    json.loads(data)


def test_frames_that_gdb_invents_have_numbers_of_its_own() -> None:
    crash = shared("invented", INVENTED)
    shown, gdbs, said, pc = session(
        crash, "whocall bt", "bt", "whocall frame 2", "print/x (long) $pc"
    )
    main = pcs(shown)[2]
    assert re.search(r"^#2 .* in main\? ", shown, re.MULTILINE), shown
    (theirs,) = (level for level, at in pcs(gdbs).items() if at == main)
    assert theirs > 2, gdbs
    assert f"Frame #2 of whocall's is #{theirs} of gdb's." in said
    assert int(pc.split("0x")[1], 16) == main
    assert REMARK.findall(shown) == ["2"]
    assert "gives frames other numbers from #2 on" in shown


def test_no_word_of_numbers_where_gdb_has_the_same() -> None:
    crash = shared("inlined", INLINED)
    said = batch(["whocall bt", "whocall bt -all", "whocall bt -2"], [crash.twin, crash.core]).out
    assert "#3" in said
    assert not REMARK.search(said)
