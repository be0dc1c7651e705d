"""`whocall compare` on cores: gdb's frames judged against the true chain."""

from __future__ import annotations

import pytest
from answers import checked, document, pcs, truth
from programs import NEVER_ON_THE_STACK, Crash, shared
from sessions import Answer, Question, Said, asked, batch

from whocall.report.comparison.verdicts import VERDICTS

# A debug file of the C library, where the machine has one, would tell whocall of them.
NO_INLINED_CALLS = "set debug-file-directory /nonexistent"


PLAIN, LINES = "whocall compare -json", "whocall compare"
WITHOUT = {
    word: (NO_INLINED_CALLS, f"set whocall without {word}", PLAIN)
    for word in ("", "analysis", "analysis,cfi", "analysis,cfi,frame-pointer", "scan,analysis")
}


@pytest.fixture(scope="module")
def session(chain: Crash) -> dict[Question, Answer]:
    return asked([PLAIN, LINES, *WITHOUT.values()], [chain.exe, chain.core])


def test_compare_against_a_recount(session: dict[Question, Answer], chain: Crash) -> None:
    thread = checked(session[WITHOUT[""]].out)["threads"][0]
    true = truth(chain)
    ours = [row["whocall"] for row in thread["rows"] if row["whocall"]]
    gdbs = [row["gdb"] for row in thread["rows"] if row["gdb"]]
    assert pcs({"frames": ours}) == true
    assert [frame["level"] for frame in gdbs] == list(range(len(gdbs)))
    false = [row for row in thread["rows"] if row["verdict"] == "false in gdb"]
    assert thread["counts"]["false"] == len(false) > 0
    assert thread["counts"]["frames"] == len(true)
    assert all(int(row["gdb"]["pc"], 16) not in true for row in false)
    assert thread["first_divergence"]["explanation"]


def test_compare_restores_selection_and_settings(chain: Crash) -> None:
    said = batch(
        [
            "frame 2",
            "whocall compare",
            "show backtrace past-main",
            "python print('level', gdb.selected_frame().level())",
        ],
        [chain.twin, chain.core],
    )
    assert 'past "main" is off' in said.out
    assert said.out.splitlines()[-1] == "level 2"


@pytest.mark.parametrize("without", WITHOUT)
def test_no_true_frame_is_ever_called_false(
    without: str, session: dict[Question, Answer], chain: Crash
) -> None:
    """With strategies switched off whocall has gaps; what gdb has in them is not false."""
    thread = checked(session[WITHOUT[without]].out)["threads"][0]
    true = truth(chain)
    false = [row["gdb"] for row in thread["rows"] if row["verdict"] == "false in gdb"]
    assert not [frame for frame in false if int(frame["pc"], 16) in true]
    counts = thread["counts"]
    names = sum(counts[word] for word in ("same", "unnamed", "named", "renamed"))
    assert names + counts["missing"] == counts["frames"]
    unwound = [row["gdb"] for row in thread["rows"] if row["gdb"] and not row["gdb"]["inlined"]]
    alone = counts["false"] + counts["unproven"] + counts["beyond"]
    assert names + alone == len(unwound)


def test_names_of_one_function_agree(workers: Crash) -> None:
    """gdb may know libc's debug info, with other names at the same starts."""
    said = document("whocall compare -all -json", workers)
    assert all(thread["counts"]["renamed"] == 0 for thread in said["threads"])


def test_with_debug_info_gdb_has_every_frame(chain: Crash) -> None:
    twin = Crash(chain.twin, chain.twin, chain.core)
    counts = document("whocall compare -json", twin)["threads"][0]["counts"]
    assert counts["missing"] == counts["false"] == counts["unproven"] == 0


def test_the_closing_line(session: dict[Question, Answer]) -> None:
    counts = checked(session[PLAIN].out)["threads"][0]["counts"]
    found = counts["frames"] - counts["missing"]
    last = session[LINES].out.splitlines()[-1]
    assert last.startswith(f"gdb has {found} of whocall's {counts['frames']} frames (")
    assert last.endswith(".")


def test_compare_of_every_thread(workers: Crash) -> None:
    found = document("whocall compare -all -json", workers)
    assert sorted(thread["number"] for thread in found["threads"]) == [1, 2, 3, 4]


def test_what_only_debug_info_tells_of_counts_for_neither() -> None:
    crash = shared("virtual", NEVER_ON_THE_STACK, "-O2 -g")
    said = document("whocall compare -json", crash, f"symbol-file {crash.twin}")
    rows = said["threads"][0]["rows"]
    off = [row["gdb"]["function"] for row in rows if row["verdict"] == "not on stack"]
    assert off == ["inlined", "jumping"]
    assert said["threads"][0]["counts"]["false"] == 0
    said = batch(["frame 2", "whocall"], [crash.twin, crash.core])
    assert said.status == 0, said.err
    assert "last was called by calling" in said.out


def test_threads_with_the_same_frames_are_told_once(workers: Crash) -> None:
    said = batch(["whocall compare -all"], [workers.exe, workers.core])
    titles = [line for line in said.out.splitlines() if line.startswith("Thread")]
    assert len(titles) == 2, said
    assert "[3 threads, same stack]" in titles[1], said


def rows_of(said: Said) -> list[str]:
    """The lines of frames, by the verdict that each begins with."""
    return [line for line in said.out.splitlines() if line.startswith(VERDICTS)]


def test_on_a_narrow_screen_one_frame_stands_in_a_line(workers: Crash) -> None:
    """gdb's stands below only where it has another name."""
    said = batch(["set width 80", "whocall compare"], [workers.exe, workers.core])
    wide = batch(["set width 110", "whocall compare"], [workers.exe, workers.core])
    (heading,) = (line for line in said.out.splitlines() if line.startswith("verdict"))
    assert heading.split() == ["verdict", "frame"]
    narrow, broad = rows_of(said), rows_of(wide)
    assert all(row.count(" #") == 1 for row in narrow), said
    assert max(map(len, narrow)) < 110, said
    assert any(row.count(" #") == 2 for row in broad), wide
    assert [row[:15] for row in narrow] == [row[:15] for row in broad], (said, wide)
