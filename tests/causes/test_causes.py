"""What happened, in a sentence: of programs that end in known ways, and nothing beyond that."""

from __future__ import annotations

from pathlib import Path

import pytest
from acceptance.helpers.stopped_processes import stopped

from causes.programs import SOURCES, compiled, core_of, happened, panics
from whocall import open_process
from whocall.report.causes.happened import what_happened

# Of each program: the kind of the first fact, and what the sentence must say.
EXPECTED = {
    "null-call": (
        "null-call",
        "at 0x0: call+{n} called address 0, a null function pointer",
    ),
    "wild-call": ("wild-call", "call+{n} called 0x10000000, where no code is"),
    "null-access": ("null-access", "in get of {program}: it was reading 4 bytes at 0x4, 4"),
    "read-only": ("fault", "the memory there does not allow it"),
    "smashed-return": ("smashed-return", '0x4141414141414141 (the text "AAAAAAAA"), where no code'),
    "stack-overflow": ("stack-overflow", "of them a recursion of down"),
    "assertion": ("assertion", "in check+{n} of {program}: an assertion failed:"),
    "abort-message": ("abort-message", "free(): double free detected in tcache 2"),
    "abort": ("abort", "in give_up+{n} of {program}: abort() was called"),
    "division": ("fault", "SIGFPE in part+{n} of {program}: an integer was divided by zero"),
    "trap": ("trap", "it ran into `ud2`"),
    "sent": ("sent", "SIGSEGV in "),
}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_cause_is_told_and_proved(name: str, place: Path) -> None:
    found = happened(core_of(SOURCES[name], place / "causes" / name / name))
    kind, wanted = EXPECTED[name]
    assert found["facts"], found
    assert found["facts"][0]["kind"] == kind
    assert all(fact["proof"] for fact in found["facts"])
    for piece in wanted.split("{n}"):
        assert piece.replace("{program}", name) in found["sentence"]
    assert found["sentence"].startswith(f"{name} was ended by SIG")
    assert found["sentence"].endswith(".")


def test_each_cause_is_told_for_its_own_program_alone(place: Path) -> None:
    """No cause is claimed of a program that ended in another way."""
    alone = {"null-call", "wild-call", "null-access", "smashed-return", "stack-overflow",
             "assertion", "abort-message", "trap", "sent"}  # fmt: skip
    for name in SOURCES:
        core = place / "causes" / name / "run"
        found = happened(next(core.glob("core*")))
        kinds = {fact["kind"] for fact in found["facts"]}
        assert kinds & alone <= {name}, (name, kinds)


def test_a_process_that_was_only_stopped_did_not_crash(place: Path) -> None:
    source = "#include <signal.h>\nint main(void) { raise(SIGSTOP); }"
    with (
        stopped(compiled(source, place / "stopped" / "program")) as pid,
        open_process(pid) as image,
    ):
        found = what_happened(image, 0, image.backtrace(0))
    assert found["facts"] == []
    assert found["signal"] is None
    assert found["sentence"].startswith("program did not crash: it was stopped in ")


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("index", "runtime error: index out of range [7] with length 3"),
        ("words", "plain <words>"),
        ("error", "an error value"),
    ],
)
def test_the_text_of_a_go_panic_is_read_without_symbols(how: str, text: str) -> None:
    found = happened(panics("go")[how])
    assert found["facts"][0]["kind"] == "panic"
    assert found["facts"][0]["text"] == f"a panic was not recovered: {text}"
    assert "runtime." not in found["sentence"].partition(": ")[0]


def test_a_panic_that_may_still_be_recovered_is_no_cause() -> None:
    """Deferred functions run, and one of them ends the program."""
    found = happened(panics("go")["deferred"])
    assert found["signal"] == "SIGABRT"
    assert [fact["kind"] for fact in found["facts"]] == ["sent"]


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("index", "index out of bounds: the len is 3 but the index is 7"),
        ("expect", "seven words are needed"),
        ("literal", "only a literal"),
    ],
)
def test_the_text_of_a_rust_panic_is_read(how: str, text: str) -> None:
    found = happened(panics("rust")[how])
    assert found["facts"][0]["kind"] == "panic"
    assert found["sentence"].startswith("panics was ended by SIGABRT in panics::main")
    assert found["facts"][0]["text"].startswith("it panicked at ")
    assert found["facts"][0]["text"].endswith(f": {text}")
    assert "panics.rs:" in found["facts"][0]["text"]
