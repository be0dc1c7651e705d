"""The commands on cores of stripped programs."""

from __future__ import annotations

import json
import re

import pytest
from answers import document, pcs, text, truth
from programs import Crash
from sessions import batch


def test_the_chain_is_the_true_one(chain: Crash) -> None:
    found = document("whocall bt -json -past-main", chain)
    assert pcs(found["threads"][0]) == truth(chain)
    assert found["source"] == {"core": str(chain.core), "exe": str(chain.exe)}
    thread = found["threads"][0]
    assert (thread["number"], thread["signal"], thread["crashed"]) == (1, "SIGSEGV", True)
    assert thread["stop"]["reason"] == "end-of-stack"


def test_text_and_json_have_the_same_frames(chain: Crash) -> None:
    frames = document("whocall bt -json", chain)["threads"][0]["frames"]
    lines = text("whocall bt", chain)
    assert [line[:4].strip("# ") for line in lines] == [str(frame["level"]) for frame in frames]
    assert all(line.endswith("]") for line in lines)


def test_counts(chain: Crash) -> None:
    lines = text("whocall bt 2", chain)
    assert [line[:2] for line in lines] == ["#0", "#1", "(M"]
    frames = document("whocall bt -past-main -json", chain)["threads"][0]["frames"]
    assert text("whocall bt -past-main -1", chain)[-1].startswith(f"#{frames[-1]['level']} ")


def test_the_count_is_in_the_stop_reason(chain: Crash) -> None:
    thread = document("whocall bt -json 1", chain)["threads"][0]
    assert len(thread["frames"]) == 1
    assert thread["stop"]["reason"] == "count"


def test_full_and_explain(chain: Crash) -> None:
    lines = text("whocall bt -full -explain 1", chain)
    assert lines[0].startswith("#0 ")
    assert any("CFA 0x" in line for line in lines)
    assert any("rsp " in line for line in lines)


def test_everything_at_once(chain: Crash) -> None:
    lines = text("whocall bt -all -full -explain -without cfi,scan -past-main -4", chain)
    assert lines[0].startswith("Thread 1 (LWP ")
    frames = [line for line in lines if line.startswith("#")]
    assert len(frames) <= 4
    assert not any("[cfi]" in line or "[scan]" in line for line in frames)
    sentences = [line for line in lines if re.match(r" {4}\S", line)]
    assert len(sentences) >= len(frames)
    assert all(re.match(r" {4}[A-Z.].*[^.]\.$", line) for line in sentences)


def test_a_strategy_switched_off_for_good(chain: Crash) -> None:
    thread = document("whocall bt -json", chain, "set whocall without analysis")["threads"][0]
    assert "analysis" not in {frame["trust"] for frame in thread["frames"]}


@pytest.mark.parametrize("command", ["bt -all", "compare", "modules", "functions"])
def test_json_is_all_that_is_said(chain: Crash, command: str) -> None:
    said = batch(["echo {json}\\n", f"whocall {command} -json"], [chain.exe, chain.core])
    json.loads(said.out.split("{json}\n", 1)[1])
    assert "whocall" not in said.err


def test_max_frames_limits_the_walk(chain: Crash) -> None:
    thread = document("whocall bt -json", chain, "set whocall max-frames 2")["threads"][0]
    assert len(thread["frames"]) == 2
    assert thread["stop"]["reason"] == "frame-limit"


def test_one_line_on_the_selected_frame(chain: Crash) -> None:
    true = truth(chain)
    lines = text("whocall", chain)
    assert len(lines) == 1
    assert " was called by " in lines[0]
    assert f"{true[1]:#x}" in lines[0]


def test_one_line_on_a_frame_further_out(chain: Crash) -> None:
    true = truth(chain)
    numbered = "python\nf = gdb.newest_frame()\nwhile f: print('pc', f.pc()); f = f.older()"
    said = batch([numbered], [chain.exe, chain.core])
    shown = [int(pc) for pc in re.findall(r"^pc (\d+)$", said.out, re.MULTILINE)]
    level = max(at for at, pc in enumerate(shown) if pc in true[:-1])
    said = batch([f"frame {level}", "whocall"], [chain.exe, chain.core])
    assert said.status == 0, said.err
    assert f"{true[true.index(shown[level]) + 1]:#x}" in said.out.splitlines()[-1]


def test_for_each_thread(workers: Crash) -> None:
    said = batch(["thread apply all whocall bt 2", "thread apply all whocall"],
                 [workers.exe, workers.core])  # fmt: skip
    assert said.status == 0, said.err
    assert said.out.count("(More stack frames follow...)") == 4
    assert said.out.count(" was called by ") == 4


def test_a_false_frame_is_called_so(chain: Crash) -> None:
    levels = "python\nf = gdb.newest_frame()\nwhile f: print('pc', f.pc()); f = f.older()"
    said = batch([levels], [chain.exe, chain.core])
    shown = [int(pc) for pc in re.findall(r"^pc (\d+)$", said.out, re.MULTILINE)]
    wrong = [level for level, pc in enumerate(shown) if pc not in truth(chain)]
    assert wrong, "gdb was to be wrong here"
    said = batch([f"frame {wrong[0]}", "whocall"], [chain.exe, chain.core])
    assert said.status == 1
    assert "is not in the call chain" in said.err


def test_modules(chain: Crash) -> None:
    found = document("whocall modules -json", chain)
    main = [module for module in found["modules"] if module["is_executable"]]
    assert [module["path"] for module in main] == [str(chain.exe)]
    assert all(module["state"] in ("found", "in memory") for module in found["modules"])
    lines = text("whocall modules", chain)
    assert sum(str(chain.exe) in line for line in lines) == 1


def test_functions(chain: Crash) -> None:
    found = document("whocall functions -json -module libc.so.6 ^qsort$", chain)
    assert len(found["modules"]) == 1
    [function] = found["modules"][0]["functions"]
    assert function["name"] == "qsort"
    said = batch(["info address qsort"], [chain.exe, chain.core])
    assert function["start"] in said.out


def test_functions_of_an_unknown_module(chain: Crash) -> None:
    said = batch(["whocall functions -module nonsense.so"], [chain.exe, chain.core])
    assert said.status == 1
    assert "nonsense.so" in said.err


def test_symbol_takes_expressions(chain: Crash) -> None:
    lines = text('whocall symbol $pc "$pc + 1" qsort', chain)
    assert len([line for line in lines if line.startswith("0x")]) == 3
    assert " is qsort (+0) in " in "\n".join(lines)


def test_completion_of_modules(chain: Crash) -> None:
    said = batch(["complete whocall functions -module libc"], [chain.exe, chain.core])
    assert "whocall functions -module libc.so.6" in said.out.splitlines()


def test_threads_fold(workers: Crash) -> None:
    titles = [line for line in text("whocall bt -all", workers) if line.startswith("Thread")]
    assert len(titles) == 2
    assert sum("[3 threads, same stack]" in title for title in titles) == 1
    found = document("whocall bt -all -json", workers)
    assert sorted(thread["number"] for thread in found["threads"]) == [1, 2, 3, 4]


def test_threads_have_gdbs_numbers(workers: Crash) -> None:
    said = batch(
        ["python print('map', {t.num: t.ptid[1] for t in gdb.selected_inferior().threads()})"],
        [workers.exe, workers.core],
    )
    numbers = eval(said.out.split("map ")[1].splitlines()[0])
    found = document("whocall bt -all -json", workers)
    assert {thread["number"]: thread["lwp"] for thread in found["threads"]} == numbers


@pytest.mark.parametrize("number", [1, 3])
def test_bt_is_for_the_selected_thread(workers: Crash, number: int) -> None:
    found = document("whocall bt -json", workers, f"thread {number}")
    assert [thread["number"] for thread in found["threads"]] == [number]


def test_another_core_is_another_image(chain: Crash, workers: Crash) -> None:
    said = batch(
        ["whocall bt -json 1", f"file {workers.exe}", f"core-file {workers.core}",
         "whocall bt -json 1"],
        [chain.exe, chain.core],
    )  # fmt: skip
    assert re.findall(r'"signal": "(\w+)"', said.out) == ["SIGSEGV", "SIGABRT"]


def test_the_program_may_be_exchanged(chain: Crash, workers: Crash) -> None:
    said = batch(
        ["whocall modules", f"file {workers.exe}", "whocall modules", f"file {chain.exe}",
         "whocall modules"],
        [chain.exe, chain.core],
    )  # fmt: skip
    assert said.status == 0, said.err
    states = re.findall(
        rf"  (found|missing|MISMATCH) .* {re.escape(str(chain.exe))}$", said.out, re.MULTILINE
    )
    assert [states[0], states[-1]] == ["found", "found"]
    assert len(states) >= 2


def test_a_file_of_symbols_is_not_the_program(chain: Crash) -> None:
    found = document("whocall bt -json", chain, f"symbol-file {chain.twin}")
    assert found["source"]["exe"] == str(chain.exe)
    assert not found["warnings"]
