"""-whocall-backtrace, for editors that speak GDB/MI."""

from __future__ import annotations

import json
from typing import Any

import pytest
from answers import document, truth
from mi_session import Answer, MiSession, record
from programs import Crash
from sessions import SCRIPT

SOURCE = f"source {SCRIPT}"
NO_SHELL = "-gdb-set startup-with-shell off"


def session(crash: Crash, *, core: bool = True) -> MiSession:
    return MiSession(["-ex", SOURCE, crash.exe, *([crash.core] if core else [])])


@pytest.fixture(scope="module")
def gdb(chain: Crash):
    with session(chain) as mi:
        mi.ask("-thread-info")  # what gdb says at its start is no part of an answer
        yield mi


def backtrace(answer: Answer) -> dict[str, Any]:
    assert answer.kind == "done", answer.results
    found: dict[str, Any] = answer.results["backtrace"]
    return found


def pcs(found: dict[str, Any], thread: int = 0) -> list[int]:
    frames = found["threads"][thread]["frames"]
    return [int(frame["pc"], 16) for frame in frames if frame["inlined"] == "false"]


def as_mi(value: Any) -> Any:
    """JSON as a reader of MI gets it."""
    if isinstance(value, dict):
        return {key: as_mi(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [as_mi(item) for item in value]
    return value if isinstance(value, str) else json.dumps(value)


def test_values_are_read() -> None:
    line = '7^done,a="x\\"\\\\\\n\\303\\251",b={c=[],d={}},e=["1","2"],f=[g={h="3"},g={h="4"}]'
    found = record(line)
    assert found is not None
    assert (found.token, found.kind) == ("7", "done")
    assert found.results == {
        "a": 'x"\\\né', "b": {"c": [], "d": {}}, "e": ["1", "2"], "f": [{"h": "3"}, {"h": "4"}],
    }  # fmt: skip


def test_a_core_as_json_tells_it(gdb: MiSession, chain: Crash) -> None:
    found = backtrace(gdb.ask("-whocall-backtrace"))
    assert found == as_mi(document("whocall bt -json", chain))


def test_a_core_as_the_unstripped_twin_tells_it(gdb: MiSession, chain: Crash) -> None:
    found = backtrace(gdb.ask("-whocall-backtrace --past-main"))
    true = truth(chain)
    assert len(true) > 8
    assert pcs(found) == true


def test_what_json_calls_null_is_absent(gdb: MiSession) -> None:
    found = backtrace(gdb.ask("-whocall-backtrace 3"))
    in_the_program, in_libc = found["threads"][0]["frames"][0], found["threads"][0]["frames"][2]
    assert "source" not in in_the_program
    assert set(in_the_program) == set(in_libc) - {"source"}
    assert found["threads"][0]["stop"] == {"reason": "count"}
    assert [frame["level"] for frame in found["threads"][0]["frames"]] == ["0", "1", "2"]


def test_live_as_the_unstripped_twin_tells_it(chain: Crash) -> None:
    with session(chain, core=False) as gdb:
        gdb.ask(NO_SHELL)
        assert gdb.ask("-exec-run").kind == "running"
        assert gdb.wait_for_stop()["signal-name"] == "SIGSEGV"
        found = backtrace(gdb.ask("-whocall-backtrace --past-main"))
        said = gdb.console("whocall bt -json -past-main")
    assert found == as_mi(json.loads(said.console))
    assert found["threads"][0]["signal"] == "SIGSEGV"
    assert "core" not in found["source"]
    assert [pc & 0xFFF for pc in pcs(found)] == [pc & 0xFFF for pc in truth(chain)]


def test_threads(workers: Crash) -> None:
    with session(workers) as gdb:
        every = backtrace(gdb.ask("-whocall-backtrace --all-threads"))
        one = backtrace(gdb.ask("-whocall-backtrace --thread 3"))
        selected = backtrace(gdb.ask("-whocall-backtrace"))
        framed = backtrace(gdb.ask("-whocall-backtrace --thread 2 --frame 1 1"))
        now = gdb.ask("-thread-info").results["current-thread-id"]
    assert every == as_mi(document("whocall bt -all -json", workers))
    assert [thread["number"] for thread in every["threads"]] == ["1", "2", "3", "4"]
    assert one["threads"] == [every["threads"][2]]
    assert selected["threads"] == [every["threads"][0]]
    assert framed["threads"][0]["number"] == "2"
    assert now == "1"


def test_strategies_can_be_left_out(gdb: MiSession, chain: Crash) -> None:
    found = backtrace(gdb.ask("-whocall-backtrace --without cfi,analysis -2"))
    whole = backtrace(gdb.ask("-whocall-backtrace --without cfi,analysis --past-main"))
    plain = document("whocall bt -json -without cfi,analysis -2", chain)
    assert found == as_mi(plain)
    assert {"cfi", "analysis"}.isdisjoint(frame["trust"] for frame in whole["threads"][0]["frames"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--nonsense", "-whocall-backtrace has no option \"--nonsense\"; its options:"
         " --all-threads, --past-main and --without."),
        ("--without", "-whocall-backtrace --without must be followed by LIST."),
        ("--without x", 'There is no strategy "x"; there are signal-frame, '),
        ("7 8", "-whocall-backtrace takes one COUNT, not two."),
        ('"a word"', '-whocall-backtrace: "a word" is neither an option nor a COUNT of frames.'),
    ],
)  # fmt: skip
def test_an_error_is_a_sentence_in_an_error_record(
    gdb: MiSession, arguments: str, sentence: str
) -> None:
    answer = gdb.ask(f"-whocall-backtrace {arguments}")
    assert answer.kind == "error"
    assert str(answer.results["msg"]).startswith(sentence)
    assert (answer.console, answer.log) == ("", "")


def test_no_process_is_an_error_and_gdb_goes_on(chain: Crash) -> None:
    with session(chain, core=False) as gdb:
        none = gdb.ask("-whocall-backtrace")
        gdb.console(f"core-file {chain.core}")
        found = backtrace(gdb.ask("-whocall-backtrace 1"))
    assert none.kind == "error"
    assert none.results["msg"].startswith("The program has no registers now.")
    assert len(found["threads"][0]["frames"]) == 1


def test_loading_through_the_interpreter_and_from_a_console(chain: Crash) -> None:
    with MiSession([chain.exe, chain.core]) as gdb:
        before = gdb.ask("-whocall-backtrace")
        loaded = gdb.console(SOURCE)
        found = backtrace(gdb.ask("-whocall-backtrace 2"))
        again = gdb.console('interpreter-exec mi "-whocall-backtrace 2"')
    assert before.results["code"] == "undefined-command"
    assert (loaded.kind, loaded.console, loaded.log) == ("done", "", "")
    # Its record is console output in gdb 16 and older, a record of its own later.
    nested = record(again.console.rstrip("\n")) or again.beside[-1]
    assert nested.kind == "done"
    assert nested.results["backtrace"] == found


def test_loading_by_an_option_of_gdb(chain: Crash) -> None:
    with MiSession(["-x", str(SCRIPT), chain.exe, chain.core], "mi") as gdb:
        assert len(pcs(backtrace(gdb.ask("-whocall-backtrace 2")))) == 2
