"""The commands on running programs."""

from __future__ import annotations

import json
import re

import pytest
from programs import Crash
from sessions import Answer, Question, asked, batch

START = ["set startup-with-shell off"]


def pcs(out: str) -> list[list[int]]:
    """The pcs of every JSON document in `out`."""
    found = []
    for part in out.split("{json}\n")[1:]:
        document, _ = json.JSONDecoder().raw_decode(part)
        frames = document["threads"][0]["frames"]
        found.append([int(frame["pc"], 16) for frame in frames if not frame["inlined"]])
    return found


BT = ["echo \\n{json}\\n", "whocall bt -json -past-main"]
LOOK = "python from whocall.gdb.target.inferior import current; print('image', id(current().image))"
IMAGES = (LOOK, LOOK, "set whocall search-path /", LOOK, "set whocall search-path")
FILES = ("whocall modules", "info sharedlibrary")
NO_PC = ("set var $pc = 0", *BT)


@pytest.fixture(scope="module")
def session(chain: Crash) -> dict[Question, Answer]:
    """The program has run up to its crash; one session answers all of them."""
    return asked([(*START, "run"), tuple(BT), IMAGES, FILES, NO_PC], [chain.exe])


def test_live_is_as_the_core(session: dict[Question, Answer], chain: Crash) -> None:
    live = session[tuple(BT)]
    core = batch(BT, [chain.exe, chain.core])
    [live_chain], [core_chain] = pcs(live.out), pcs(core.out)
    assert [pc & 0xFFF for pc in live_chain] == [pc & 0xFFF for pc in core_chain]
    assert '"core": null' in live.out
    assert live.err == ""


def test_nothing_stale_is_shown(session: dict[Question, Answer]) -> None:
    [before], [after] = pcs(session[tuple(BT)].out), pcs(session[NO_PC].out)
    assert after[0] == 0
    assert before[0] != 0


def test_the_instruction_set_is_the_one_that_gdb_says(chain: Crash) -> None:
    """With its ABI: pointers of x32 are shorter than its registers."""
    words = {"i386:x64-32": "x32", "i386:x86-64": "x86_64"}
    for name, word in words.items():
        said = batch(
            [*START, "starti", f"set architecture {name}", "whocall bt -json 1"], [chain.exe]
        )
        assert f'"arch": "{word}"' in said.out, said


def test_a_second_run_is_another_process(chain: Crash, workers: Crash) -> None:
    again = [f"file {workers.exe}", "run", "whocall bt -json 1", "whocall modules"]
    said = batch([*START, "run", "whocall bt -json 1", "run", *BT, *again], [chain.exe])
    assert said.status == 0, said.err
    assert re.findall(r'"signal": "(\w+)"', said.out) == ["SIGSEGV", "SIGSEGV", "SIGABRT"]
    assert re.findall(r'"crashed": (\w+)', said.out) == ["true"] * 3
    after = said.out.split('"SIGABRT"')[1]
    assert str(workers.exe) in after
    assert str(chain.exe) not in after


def test_settings_count_at_once(session: dict[Question, Answer]) -> None:
    images = re.findall(r"^image (\d+)$", session[IMAGES].out, re.MULTILINE)
    assert images[0] == images[1] != images[2]


def test_one_line_on_a_frame_further_out(workers: Crash) -> None:
    said = batch([*START, "run", "frame function abort", "whocall"], [workers.exe])
    assert said.status == 0, said.err
    assert said.out.splitlines()[-1].startswith("abort was called by ")


def test_a_program_that_is_gone_is_an_error(chain: Crash) -> None:
    said = batch([*START, "run", "whocall bt 1", "kill", "whocall bt"], [chain.exe])
    assert said.status == 1
    assert "The program has no registers now." in said.err


def test_before_the_dynamic_linker_has_run(chain: Crash) -> None:
    said = batch([*START, "starti", *BT], [chain.exe])
    assert said.status == 0, said.err
    assert len(pcs(said.out)[0]) >= 1


def test_all_threads_and_the_selection_is_kept(workers: Crash) -> None:
    said = batch(
        [*START, "run", "thread 3", "up", "whocall bt -all", "whocall compare -all",
         "python print('at', gdb.selected_thread().num, gdb.selected_frame().level())"],
        [workers.exe],
    )  # fmt: skip
    assert said.status == 0, said.err
    assert "[3 threads, same stack]" in said.out
    assert said.out.splitlines()[-1] == "at 3 1"


def test_files_and_biases_are_those_of_the_linker(session: dict[Question, Answer]) -> None:
    said = session[FILES]
    assert said.err == ""
    assert re.search(r"(?m)  found .* \S*/libc\.so\.6(,|$)", said.out)
    assert "missing" not in said.out
