"""The commands on cores of stripped programs."""

from __future__ import annotations

import json
import re
from ast import literal_eval
from typing import Any, cast

import pytest
from answers import checked, pcs, truth
from programs import Crash
from sessions import Answer, Question, asked, batch

BT = "whocall bt -json"
PAST_MAIN = f"{BT} -past-main"
EVERYTHING = "whocall bt -all -full -explain -without cfi,scan -past-main -4"
QSORT = "whocall functions -json -module libc.so.6 ^qsort$"
JSON = [f"whocall {command} -json" for command in ("bt -all", "compare", "modules", "functions")]
LEVELS = "python\nf = gdb.newest_frame()\nwhile f: print('pc', f.pc()); f = f.older()"
WITHOUT = ("set whocall without analysis", BT, "set whocall without")
LIMITED = ("set whocall max-frames 2", BT, "set whocall max-frames unlimited")
EXPRESSIONS = 'whocall symbol $pc "$pc + 1" qsort'
ADDRESS = "info address qsort"
COMPLETE = "complete whocall functions -module libc"
ON_THE_CHAIN: list[Question] = [
    BT, PAST_MAIN, "whocall bt", "whocall bt 2", "whocall bt -past-main -1", "whocall bt -json 1",
    "whocall bt -full -explain 1", EVERYTHING, *JSON, "whocall", LEVELS, WITHOUT, LIMITED,
    "whocall modules", QSORT, ADDRESS, EXPRESSIONS, COMPLETE,
]  # fmt: skip
ALL, MAP = "whocall bt -all -json", (
    "python print({t.num: t.ptid[1] for t in gdb.selected_inferior().threads()})"
)  # fmt: skip
EACH = ["thread apply all whocall bt 2", "thread apply all whocall"]
ON_THE_WORKERS: list[Question] = [
    "whocall bt -all", ALL, MAP, *EACH, ("thread 3", BT), ("thread 1", BT),
]  # fmt: skip
Session = dict[Question, Answer]


@pytest.fixture(scope="module")
def session(chain: Crash) -> Session:
    """One session answers all of them."""
    return asked(ON_THE_CHAIN, [chain.exe, chain.core])


@pytest.fixture(scope="module")
def threads(workers: Crash) -> Session:
    return asked(ON_THE_WORKERS, [workers.exe, workers.core])


def document(session: Session, question: Question) -> dict[str, Any]:
    return checked(session[question].out)


def thread(session: Session, question: Question) -> dict[str, Any]:
    """The only thread of a backtrace."""
    (found,) = document(session, question)["threads"]
    return cast(dict[str, Any], found)


def text(session: Session, question: Question) -> list[str]:
    return session[question].out.splitlines()


def below_head(session: Session, question: Question) -> list[str]:
    """The lines of a backtrace without what happened, which stands above."""
    first, cause, *lines = text(session, question)
    assert re.search(" was ended by SIGSEGV [rw][a-z]+ 4 bytes at 0x0 in thread 1 ", first)
    assert re.fullmatch(
        "Cause: it followed (a|the) null pointer( in [a-z0-9]+(, which #0 got from .+)?)?[.]", cause
    )
    return lines


def shown(session: Session) -> list[int]:
    """The pcs of gdb's own frames."""
    return [int(pc) for pc in re.findall(r"^pc (\d+)$", session[LEVELS].out, re.MULTILINE)]


def test_the_chain_is_the_true_one(session: Session, chain: Crash) -> None:
    found = thread(session, PAST_MAIN)
    assert pcs(found) == truth(chain)
    source = {"core": str(chain.core), "exe": str(chain.exe), "origin": None}
    assert document(session, PAST_MAIN)["source"] == source
    assert (found["number"], found["signal"], found["crashed"]) == (1, "SIGSEGV", True)
    assert found["stop"]["reason"] == "end-of-stack"


def test_text_and_json_have_the_same_frames(session: Session) -> None:
    frames = thread(session, BT)["frames"]
    *lines, numbers = below_head(session, "whocall bt")
    # gdb goes wrong behind `sorting`; whether it comes back to a true frame hangs on what is saved.
    has = "(gives frames other numbers|has other frames)"
    assert re.match(f'gdb\'s own "bt" {has} from #[0-9]+ on; ', numbers)
    assert [line[:4].strip("# ") for line in lines] == [str(frame["level"]) for frame in frames]
    assert all(line.endswith("]") for line in lines)


def test_counts(session: Session) -> None:
    lines = below_head(session, "whocall bt 2")
    assert [line[:2] for line in lines][:3] == ["#0", "#1", "(M"]
    last = thread(session, PAST_MAIN)["frames"][-1]["level"]
    frames = [line for line in text(session, "whocall bt -past-main -1") if line.startswith("#")]
    assert [line.split()[0] for line in frames] == [f"#{last}"]


def test_the_count_is_in_the_stop_reason(session: Session) -> None:
    found = thread(session, "whocall bt -json 1")
    assert len(found["frames"]) == 1
    assert found["stop"]["reason"] == "count"


def test_full_and_explain(session: Session) -> None:
    lines = below_head(session, "whocall bt -full -explain 1")
    assert lines[0].startswith("#0 ")
    assert any("CFA 0x" in line for line in lines)
    assert any("rsp " in line for line in lines)


def test_everything_at_once(session: Session) -> None:
    lines = text(session, EVERYTHING)
    assert lines[0].startswith("Thread 1 (LWP ")
    frames = [line for line in lines if line.startswith("#")]
    assert len(frames) <= 4
    assert not any("[cfi]" in line or "[scan?]" in line for line in frames)
    sentences = [line for line in lines if re.match(r" {4}\S", line)]
    assert len(sentences) >= len(frames)
    assert all(re.match(r" {4}[A-Z].*[^.]\.$", line) for line in sentences)


def test_a_strategy_switched_off_for_good(session: Session) -> None:
    assert "analysis" not in {frame["trust"] for frame in thread(session, WITHOUT)["frames"]}
    assert "analysis" in {frame["trust"] for frame in thread(session, BT)["frames"]}


@pytest.mark.parametrize("command", JSON)
def test_json_is_all_that_is_said(session: Session, command: str) -> None:
    json.loads(session[command].out)
    assert "whocall" not in session[command].err


def test_max_frames_limits_the_walk(session: Session) -> None:
    found = thread(session, LIMITED)
    assert len(found["frames"]) == 2
    assert found["stop"]["reason"] == "frame-limit"


def test_one_line_on_the_selected_frame(session: Session, chain: Crash) -> None:
    (line,) = text(session, "whocall")
    assert " was called by " in line
    assert f"{truth(chain)[1]:#x}" in line


def test_one_line_on_a_frame_further_out(session: Session, chain: Crash) -> None:
    true, gdbs = truth(chain), shown(session)
    level = max(at for at, pc in enumerate(gdbs) if pc in true[:-1])
    said = batch([f"frame {level}", "whocall"], [chain.exe, chain.core])
    assert said.status == 0, said.err
    assert f"{true[true.index(gdbs[level]) + 1]:#x}" in said.out.splitlines()[-1]


def test_for_each_thread(threads: Session) -> None:
    assert [threads[each].err for each in EACH] == ["", ""]
    assert threads[EACH[0]].out.count("(More stack frames follow...)") == 4
    assert threads[EACH[1]].out.count(" was called by ") == 4


def test_a_false_frame_is_called_so(session: Session, chain: Crash) -> None:
    true = truth(chain)
    wrong = [level for level, pc in enumerate(shown(session)) if pc not in true]
    assert wrong, "gdb was to be wrong here"
    said = batch([f"frame {wrong[0]}", "whocall"], [chain.exe, chain.core])
    assert said.status == 1
    assert "is not in the call chain" in said.err


def test_modules(session: Session, chain: Crash) -> None:
    found = document(session, "whocall modules -json")
    main = [module for module in found["modules"] if module["is_executable"]]
    assert [module["path"] for module in main] == [str(chain.exe)]
    assert all(module["state"] in ("found", "in memory") for module in found["modules"])
    assert sum(str(chain.exe) in line for line in text(session, "whocall modules")) == 1


def test_functions(session: Session) -> None:
    found = document(session, QSORT)
    assert len(found["modules"]) == 1
    [function] = found["modules"][0]["functions"]
    assert function["name"] == "qsort"
    assert function["start"] in session[ADDRESS].out


def test_functions_of_an_unknown_module(chain: Crash) -> None:
    said = batch(["whocall functions -module nonsense.so"], [chain.exe, chain.core])
    assert said.status == 1
    assert "nonsense.so" in said.err


def test_symbol_takes_expressions(session: Session) -> None:
    lines = text(session, EXPRESSIONS)
    assert len([line for line in lines if line.startswith("0x")]) == 3
    assert " is qsort (+0) in " in "\n".join(lines)


def test_completion_of_modules(session: Session) -> None:
    assert "whocall functions -module libc.so.6" in text(session, COMPLETE)


def test_threads_fold(threads: Session) -> None:
    titles = [line for line in text(threads, "whocall bt -all") if line.startswith("Thread")]
    assert len(titles) == 2
    assert sum("[3 threads, same stack]" in title for title in titles) == 1
    assert sorted(each["number"] for each in document(threads, ALL)["threads"]) == [1, 2, 3, 4]


def test_threads_have_gdbs_numbers(threads: Session) -> None:
    found = document(threads, ALL)["threads"]
    assert {each["number"]: each["lwp"] for each in found} == literal_eval(threads[MAP].out)


@pytest.mark.parametrize("number", [1, 3])
def test_bt_is_for_the_selected_thread(threads: Session, number: int) -> None:
    out = threads[f"thread {number}", BT].out
    assert checked(out[out.index("{") :])["threads"][0]["number"] == number
    assert out.count('"number"') == 1


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
    said = batch([f"symbol-file {chain.twin}", "echo {json}\\n", BT], [chain.exe, chain.core])
    found = checked(said.out.split("{json}\n")[1])
    assert found["source"]["exe"] == str(chain.exe)
    assert not found["warnings"]
