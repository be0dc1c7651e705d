"""The window `whocall` of gdb's text user interface, on a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from answers import document
from programs import Crash, shared
from screens import Screen, colours, window
from sessions import batch

HEAD = re.compile(
    r"(?P<mark>[ >])[┌├] #(?P<level>\d+) +(?:0x(?P<pc>[0-9a-f]+) in )?(?P<function>\S+) "
    r"\S+ \[(?P<trust>[\w-]+)(?P<inlined>, inlined)?\](?:  CFA (?P<cfa>\S+))?$"
)
WORD = re.compile(r" [│┃]     0x(?P<address>[0-9a-f]{16})  0x(?P<word>[0-9a-f]{16})(?:  (.*))?$")
# Without tables gdb takes each word at the stack pointer for a return address, this one first.
PUSHED = """
__attribute__((noinline, noclone)) int crashing(int *p) { return 1 + *(volatile int *)p; }
int padded(int *p);
__asm__(".text; padded: push $0x1234; call crashing; add $8, %rsp; ret");
__attribute__((noinline)) int calling(int *p) { return padded(p) + 1; }
int main(void) { return calling(0) + 1; }
"""
NO_PROGRAM = "The program has no registers now."


@pytest.fixture(scope="module")
def screen(chain: Crash, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screen]:
    with Screen(tmp_path_factory.mktemp("screen"), [chain.exe, chain.core]) as found:
        found.type("layout whocall")
        found.wait_for("#0 ")
        yield found


def heads(rows: list[str]) -> list[re.Match[str]]:
    return [match for match in map(HEAD.match, rows) if match]


def words(rows: list[str]) -> list[re.Match[str]]:
    return [match for match in map(WORD.match, rows) if match]


def test_frames_are_those_of_the_backtrace(screen: Screen, chain: Crash) -> None:
    frames = document("whocall bt -json -past-main", chain)["threads"][0]["frames"]
    screen.type("frame 0")
    # All of the stack: what a C library's qsort keeps in its frame is hundreds of words in some.
    with screen.resized(100, 1000):
        rows = screen.wait_for(f"#{frames[-1]['level']} ")
    seen = {int(head["level"]): head for head in heads(rows)}
    assert len(seen) == len(frames)
    for frame in frames[:-1]:
        head = seen[frame["level"]]
        assert head["function"].rstrip("?") == frame["function"]
        assert head["trust"] == frame["trust"]
        assert bool(head["inlined"]) == frame["inlined"]
        if not frame["inlined"]:
            assert (f"0x{head['pc'].lstrip('0')}", head["cfa"]) == (frame["pc"], frame["cfa"])


def test_words_lie_one_behind_the_other_and_return_addresses_are_the_callers_pcs(
    screen: Screen,
) -> None:
    screen.type("frame 0")
    rows = screen.wait_for(">┌ #0 ")
    found = words(rows)
    addresses = [int(word["address"], 16) for word in found]
    assert len(addresses) > 12
    assert addresses == list(range(addresses[0], addresses[0] + 8 * len(addresses), 8))
    pcs = [head["pc"] for head in heads(rows) if not head["inlined"]]
    returns = [word["word"] for word in found if (word[3] or "").startswith("return address into")]
    assert len(returns) >= len(pcs) - 1 >= 2
    assert returns[: len(pcs) - 1] == pcs[1:]
    assert any((word[3] or "") == "saved rbx" for word in found)


def test_the_mark_follows_the_selected_frame(screen: Screen, chain: Crash) -> None:
    frames = document("whocall bt -json -past-main", chain)["threads"][0]["frames"]
    (pc,) = (frame["pc"] for frame in frames if frame["function"] == "qsort_r")
    sorter = min(frame["level"] for frame in frames if frame["pc"] == pc)  # inlined ones count
    screen.type("frame 0")
    screen.wait_for(">┌ #0 ")
    screen.type("up")
    rows = screen.wait_for(">├ #1 ")
    assert rows[0].startswith("whocall: thread 1, #1 ")
    assert [head["level"] for head in heads(rows) if head["mark"] == ">"] == ["1"]
    screen.type("frame function qsort_r")
    rows = screen.wait_for(f">├ #{sorter} ")
    assert all(head["level"] != "0" for head in heads(rows))
    assert " ┃ " in rows[-1]  # the words of the frame that it is inlined into are there too
    screen.type("frame 0")
    screen.wait_for(">┌ #0 ")


def test_a_frame_that_only_gdb_has_is_not_marked(tmp_path: Path) -> None:
    crash = shared("pushed", PUSHED)
    frames = document("whocall bt -json -past-main", crash)["threads"][0]["frames"]
    level_of = {int(frame["pc"], 16): frame["level"] for frame in frames if not frame["inlined"]}
    said = batch(["bt"], [crash.exe, crash.core]).out
    found = re.findall(r"^#(\d+) +0x(\w+) in ", said, re.MULTILINE)
    pcs = {int(level): int(pc, 16) for level, pc in found}
    invented = min(level for level, pc in pcs.items() if pc not in level_of)
    true = min(level for level, pc in pcs.items() if level > invented and pc in level_of)
    ours = level_of[pcs[true]]
    assert (pcs[invented], ours) == (0x1234, true - 1)
    with Screen(tmp_path, [crash.exe, crash.core]) as screen:
        screen.type("layout whocall")
        screen.wait_for("#0 ")
        screen.type(f"frame {invented}")
        rows = screen.wait_for(f"gdb's frame #{invented} is not on whocall's chain")
        assert [head for head in heads(rows) if head["mark"] == ">"] == []
        screen.type(f"frame {true}")
        rows = screen.wait_for(f">├ #{ours} ")
        assert [head["level"] for head in heads(rows) if head["mark"] == ">"] == [str(ours)]


def test_keys_scroll(screen: Screen) -> None:
    screen.type("frame 0")
    before = screen.wait_for(">┌ #0 ")
    screen.type("focus whocall")
    screen.press("Down")
    rows = window(screen.wait(lambda lines: window(lines)[1:2] == before[2:3]))
    assert rows[1:-1] == before[2:]
    screen.press("Right")
    screen.wait(lambda lines: window(lines)[1] == before[2][1:])
    screen.press("Left")
    screen.press("NPage")
    screen.wait(lambda lines: not set(window(lines)[1:-4]) & set(before[1:]))
    screen.press("PPage", "PPage")
    screen.wait(lambda lines: window(lines) == before)
    screen.type("focus cmd")


def test_another_size_of_the_terminal(screen: Screen) -> None:
    before = screen.wait_for("#0 ")
    with screen.resized(70, 50):
        longer = screen.wait(lambda lines: len(words(window(lines))) > len(words(before)))
    assert max(map(len, longer)) <= 70
    screen.wait(lambda lines: window(lines) == before)


def test_colours_are_gdbs_to_allow(screen: Screen) -> None:
    screen.type("set style enabled on")
    screen.type("frame 1")
    screen.wait_for(">├ #1 ")
    painted = [line for line in screen.lines(colours=True) if "0x0000" in line]
    assert len(colours(painted)) >= 3
    screen.type("set style enabled off")
    screen.type("frame 0")
    screen.wait_for(">┌ #0 ")
    plain = [line for line in screen.lines(colours=True) if "0x0000" in line]
    assert colours(plain) == set()


def test_no_process_is_a_sentence_and_nothing_stale_stays(
    chain: Crash, workers: Crash, tmp_path: Path
) -> None:
    with Screen(tmp_path) as screen:
        screen.type("layout whocall")
        screen.wait_for(NO_PROGRAM)
        screen.type(f"file {chain.exe}")
        screen.type(f"core-file {chain.core}")
        screen.wait_for("in sub_")
        screen.type(f"core-file {workers.core}")
        rows = screen.wait_for("in abort ")
        assert not any("sub_1139" in row for row in rows)
        screen.type("thread 2")
        screen.wait_for("whocall: thread 2, #")
        screen.type("core-file")
        rows = screen.wait_for(NO_PROGRAM)
        assert heads(rows) == []
        screen.type("layout asm")
        screen.wait(lambda lines: not any("whocall" in line for line in lines[:1]))
        screen.type(
            "python import whocall.gdb.commands.stack_window as w; print('open:', len(w._open))"
        )
        screen.wait(lambda lines: any(line.startswith("open: 0") for line in lines))


def test_a_program_that_runs_and_is_gone(chain: Crash, tmp_path: Path) -> None:
    with Screen(tmp_path, [chain.exe]) as screen:
        screen.type("set confirm off")
        screen.type("layout whocall")
        screen.wait_for(NO_PROGRAM)
        screen.type("run")
        screen.wait_for(">┌ #0 ")
        screen.type("set var $pc = 0")
        screen.wait_for("#0  0x0000000000000000 in ?? ()")
        screen.type("kill")
        screen.wait_for(NO_PROGRAM)


def test_a_hundred_thousand_frames(deep: Crash, tmp_path: Path) -> None:
    with Screen(tmp_path, [deep.exe, deep.core]) as screen:
        screen.type("layout whocall")
        screen.wait_for(">┌ #0 ")
        screen.type("focus whocall")
        for _ in range(6):
            screen.press(*["NPage"] * 10)
        screen.wait(lambda lines: any(int(head["level"]) > 200 for head in heads(window(lines))))
        screen.type("echo still there\\n")
        screen.wait(lambda lines: any(line.startswith("still there") for line in lines))


def test_strokes_that_any_terminal_has(chain: Crash, tmp_path: Path) -> None:
    with Screen(tmp_path, [chain.exe, chain.core], LC_ALL="C") as screen:
        screen.type("layout whocall")
        lines = screen.wait(lambda lines: any(">+ #0 " in line for line in lines))
        assert any(" |     0x" in line and "return address into" in line for line in lines)
