"""Help, completion, settings and errors in gdb, without a program."""

from __future__ import annotations

import pytest
from sessions import batch

SUBCOMMANDS = ["audit", "bt", "compare", "doctor", "functions", "modules", "signatures", "symbol"]


def test_help_lists_the_subcommands() -> None:
    said = batch(["help whocall"])
    assert [f"whocall {name} -- " in said.out for name in SUBCOMMANDS] == [True] * len(SUBCOMMANDS)


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_command_has_a_summary_sentence_and_its_usage(name: str) -> None:
    lines = batch([f"help whocall {name}"]).out.splitlines()
    assert lines[0].endswith(".")
    assert len(lines[0]) < 80
    assert f"Usage: whocall {name}" in "\n".join(lines)
    assert all(len(line) < 100 for line in lines)


def test_apropos() -> None:
    said = batch(["apropos whocall"])
    assert "whocall bt -- " in said.out
    assert "set whocall without -- Set the strategies" in said.out


@pytest.mark.parametrize(
    ("line", "answers"),
    [
        ("whocall b", ["whocall bt"]),
        ("whocall ", [f"whocall {name}" for name in SUBCOMMANDS]),
        ("whocall bt -f", ["whocall bt -full"]),
        ("whocall bt -all -past", ["whocall bt -all -past-main"]),
        ("whocall bt -without frame-p", ["whocall bt -without frame-pointer"]),
        ("whocall bt -without cfi,frame-p", ["whocall bt -without cfi,frame-pointer"]),
        ("whocall bt -without an", ["whocall bt -without analysis"]),
        ("whocall bt -without cfi -ex", ["whocall bt -without cfi -explain"]),
        ("whocall functions -j", ["whocall functions -json"]),
        ("whocall functions -module x", []),
        ("set whocall w", ["set whocall without"]),
    ],
)
def test_completion(line: str, answers: list[str]) -> None:
    assert batch([f"complete {line}"]).out.splitlines() == answers


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("whocall bt", 'Use "core-file CORE" to read a core, or "run" to start it.'),
        ("whocall", "The program has no registers now."),
        ("whocall modules", "The program has no registers now."),
        ("whocall nonsense", 'Undefined whocall command: "nonsense".  Try "help whocall".'),
        ("whocall bt -nonsense", "its options: -all, "),
        ("whocall symbol", "must be followed by"),
        ("set whocall", "must be followed by the name of a setting"),
        ("set whocall without nonsense", "nonsense"),
    ],
)
def test_errors_are_one_sentence_and_status_1(command: str, part: str) -> None:
    said = batch([command])
    assert said.status == 1
    assert part in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert said.err.strip()[-1] in '.)"'


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("without", "cfi,scan", "The strategies that whocall does not use are cfi, scan."),
        ("without", "", "whocall uses all strategies."),
        ("max-frames", "7", "The most frames of one thread that whocall looks for is 7."),
        ("max-frames", "unlimited", "that whocall looks for is unlimited."),
        ("max-frames", "0", "that whocall looks for is unlimited."),
        ("search-path", "/a:/b", 'whocall looks for files are "/a:/b".'),
        ("symbol-files", "m=/a:/b@10", 'files with names of functions are "m=/a:/b@10".'),
    ],
)
def test_settings(name: str, value: str, shown: str) -> None:
    said = batch([f"set whocall {name} {value}", f"show whocall {name}"])
    assert said.out.strip().endswith(shown)


def test_a_refused_setting_keeps_the_old_value() -> None:
    said = batch(
        [
            "set whocall without cfi",
            "python\ntry: gdb.execute('set whocall without nonsense')\nexcept gdb.error: pass",
            "show whocall without",
        ]
    )
    assert said.out.strip() == "The strategies that whocall does not use are cfi."


def test_show_alone_shows_every_setting() -> None:
    lines = batch(["show whocall"]).out.splitlines()
    names = [line.split(":")[0] for line in lines]
    expected = "debuginfod max-frames search-path signature-files symbol-files without"
    assert names == expected.split()


def test_doctor_is_content() -> None:
    said = batch(["whocall doctor"])
    assert said.status == 0
    assert "Everything is in order." in said.out
    assert "gdb:" in said.out
