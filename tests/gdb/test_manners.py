"""Help, completion, settings and errors in gdb, without a program."""

from __future__ import annotations

import pytest
from sessions import batch

SUBCOMMANDS = [
    "audit",
    "bt",
    "compare",
    "doctor",
    "export",
    "functions",
    "modules",
    "repair",
    "revert",
    "signatures",
    "symbol",
]


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


@pytest.mark.parametrize("word", ["stripped", "backtrace", "who called"])
def test_apropos_finds_us_by_what_we_do(word: str) -> None:
    assert "\nwhocall -- " in "\n" + batch([f"apropos {word}"]).out


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
        ("set whocall nonsense", 'Undefined set whocall command: "nonsense".  Try "help set'),
        ("show whocall nonsense", 'Undefined show whocall command: "nonsense".  Try "help show'),
        ("set whocall debuginfod maybe", 'Undefined item: "maybe".'),
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
    expected = "auto-repair debuginfod max-frames search-path signature-files symbol-files without"
    assert names == [f"whocall {name}" for name in expected.split()]
    assert batch(["info set whocall"]).out.splitlines() == lines


def test_set_alone_lists_the_settings_as_gdbs_own_prefixes_do() -> None:
    ours, gdbs = (batch([f"set {name}"]).out.splitlines() for name in ("whocall", "backtrace"))
    assert ours[0].replace('"', "") == "List of set whocall subcommands:"  # gdb 18 quotes it
    assert [line.replace("backtrace", "whocall") for line in gdbs[-5:]] == ours[-5:]
    settings = [line.split(" -- ")[0] for line in ours if line.startswith("set ")]
    for setting in settings:
        for verb in ("set", "show"):
            helped = batch([f"help {setting.replace('set', verb, 1)}"]).out.splitlines()
            assert helped[0].startswith(f"{verb.title()} ")
            assert helped[0].endswith(".")
            assert len(helped) > 2
            assert max(map(len, helped)) < 100


def test_with_sets_for_one_command() -> None:
    show = "show whocall without"
    said = batch([f"with whocall without cfi -- {show}", show])
    assert said.out.splitlines() == [
        "The strategies that whocall does not use are cfi.", "whocall uses all strategies.",
    ]  # fmt: skip


def test_settings_outlive_a_change_of_the_program() -> None:
    said = batch(["set whocall max-frames 7", "file /bin/true", "file", "show whocall max-frames"])
    assert said.out.strip().endswith("is 7.")


def test_doctor_is_content() -> None:
    said = batch(["whocall doctor"])
    assert said.status == 0
    assert "Everything is in order." in said.out
    assert "gdb:" in said.out
