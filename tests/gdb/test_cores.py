"""The commands on cores of stripped programs."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pytest
from programs import Crash
from sessions import SCRIPT, batch

SCHEMAS = SCRIPT.parent / "whocall" / "schema"


def document(command: str, crash: Crash, *before: str) -> dict[str, Any]:
    """The JSON that a command prints, checked against the schema that it names."""
    said = batch([*before, "echo \\n{json}\\n", command], [crash.exe, crash.core])
    assert said.status == 0, said.err
    found: dict[str, Any] = json.loads(said.out.split("{json}\n", 1)[1])
    word = re.fullmatch(r"whocall\.(\w+)/1", found["schema"])
    assert word is not None
    schema = json.loads((SCHEMAS / f"{word.group(1)}-1.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(found)
    return found


def text(command: str, crash: Crash) -> list[str]:
    """The lines that a command prints."""
    said = batch(["echo \\n{text}\\n", command], [crash.exe, crash.core])
    assert said.status == 0, said.err
    return said.out.split("{text}\n", 1)[1].splitlines()


def truth(crash: Crash) -> list[int]:
    """The pcs of the true chain: gdb's, with the symbols and unwind tables of the twin."""
    walk = (
        "python\nf = gdb.newest_frame()\nwhile f:\n"
        "  if f.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME): print('pc', f.pc())\n"
        "  f = f.older()"
    )
    said = batch(["set backtrace past-main on", walk], [crash.twin, crash.core])
    return [int(pc) for pc in re.findall(r"^pc (\d+)$", said.out, re.MULTILINE)]


def pcs(thread: dict[str, Any]) -> list[int]:
    return [int(frame["pc"], 16) for frame in thread["frames"] if not frame["inlined"]]


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


def test_a_false_frame_is_called_so(chain: Crash) -> None:
    levels = "python\nf = gdb.newest_frame()\nwhile f: print('pc', f.pc()); f = f.older()"
    said = batch([levels], [chain.exe, chain.core])
    shown = [int(pc) for pc in re.findall(r"^pc (\d+)$", said.out, re.MULTILINE)]
    wrong = [level for level, pc in enumerate(shown) if pc not in truth(chain)]
    assert wrong, "gdb was to be wrong here"
    said = batch([f"frame {wrong[0]}", "whocall"], [chain.exe, chain.core])
    assert said.status == 1
    assert "is not in the call chain" in said.err


def test_compare_against_a_recount(chain: Crash) -> None:
    thread = document("whocall compare -json", chain)["threads"][0]
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


def test_compare_of_every_thread(workers: Crash) -> None:
    found = document("whocall compare -all -json", workers)
    assert sorted(thread["number"] for thread in found["threads"]) == [1, 2, 3, 4]


def test_another_core_is_another_image(chain: Crash, workers: Crash) -> None:
    said = batch(
        ["whocall bt -json 1", f"file {workers.exe}", f"core-file {workers.core}",
         "whocall bt -json 1"],
        [chain.exe, chain.core],
    )  # fmt: skip
    assert re.findall(r'"signal": "(\w+)"', said.out) == ["SIGSEGV", "SIGABRT"]
