"""Help, completion, settings and errors in gdb, without a program."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from sessions import SCRIPT, Answer, Question, asked, batch, refusals

import whocall
from whocall.commands import gdb_commands

SUBCOMMANDS = sorted(name for name, each in gdb_commands() if each.words == f"whocall {name}")
NEED_A_PROCESS = [each.words for _, each in gdb_commands() if each.needs_process]


COMPLETIONS = {
    "whocall b": ["whocall bt"],
    "whocall ": [f"whocall {name}" for name in SUBCOMMANDS],
    "whocall bt -f": ["whocall bt -full"],
    "whocall bt -all -past": ["whocall bt -all -past-main"],
    "whocall bt -no": ["whocall bt -no-arguments", "whocall bt -no-fold"],
    "whocall bt -without frame-p": ["whocall bt -without frame-pointer"],
    "whocall bt -without cfi,frame-p": ["whocall bt -without cfi,frame-pointer"],
    "whocall bt -without an": ["whocall bt -without analysis"],
    "whocall bt -without cfi -ex": ["whocall bt -without cfi -explain"],
    "whocall functions -j": ["whocall functions -json"],
    "whocall functions -module x": [],
    "set whocall w": ["set whocall without"],
    "whocall audit -": ["whocall audit -json", "whocall audit -limit"],
    "whocall audit -limit ": [],
    "whocall audit -json ~nobody-here/x": [],
    "whocall functions x": [],
    "whocall symbol x": [],
}
ERRORS = {
    **dict.fromkeys(NEED_A_PROCESS, "The program has no registers now."),
    "whocall bt": 'Use "core-file CORE" to read a core, or "run" to start it.',
    "whocall why -nonsense": "its options: -json.",
    "whocall nonsense": 'Undefined whocall command: "nonsense".  Try "help whocall".',
    "whocall bt -nonsense": "its options: -all, ",
    "whocall symbol": "must be followed by",
    "set whocall nonsense": 'Undefined set whocall command: "nonsense".  Try "help set',
    "show whocall nonsense": 'Undefined show whocall command: "nonsense".  Try "help show',
    "set whocall debuginfod maybe": 'Undefined item: "maybe".',
    "set whocall without nonsense": "nonsense",
    "whocall audit": 'There is no program to audit.  Name a file: "whocall audit FILE".',
    "whocall audit /nowhere/file": "/nowhere/file: cannot be opened",
    "whocall audit /etc/passwd": "is not an ELF file",
    "whocall audit /usr": "is a directory",
    "whocall audit /bin/true /bin/false": "cannot do anything with",
    "whocall audit -limit x /bin/true": "-limit takes a number",
    "whocall trace": "The program has no registers now.",
    "whocall trace -depth x": "-depth takes a number",
    "whocall trace -json -svg": "are two forms; take one",
    "whocall trace /etc/passwd": "/etc/passwd: is not a call trace",
    "whocall audit -limit": "must be followed by N",
    "whocall audit -nonsense": "its options: -json and -limit",
    "whocall repair": 'There is no program.  Use "file PROGRAM" or "core-file CORE" first.',
}
SETTINGS = {
    ("without", "cfi,scan"): "The strategies that whocall does not use are cfi, scan.",
    ("without", ""): "whocall uses all strategies.",
    ("max-frames", "7"): "The most frames of one thread that whocall looks for is 7.",
    ("max-frames", "unlimited"): "that whocall looks for is unlimited.",
    ("max-frames", "0"): "that whocall looks for is unlimited.",
    ("fold", "off"): "Folding of frames that repeat is off.",
    ("fold", "on"): "Folding of frames that repeat is on.",
    ("search-path", "/a:/b"): 'whocall looks for files are "/a:/b".',
    ("symbol-files", "m=/a:/b@10"): 'files with names of functions are "m=/a:/b@10".',
}
NAMES = [
    "auto-repair", "debuginfod", "fold", "helper", "max-frames", "search-path",
    "signature-files", "symbol-files", "without",
]  # fmt: skip
WORDS = ["stripped", "backtrace", "who called"]
LISTS = ["show whocall", "info set whocall", "set whocall", "set backtrace", "help whocall"]
REFUSED = (
    "set whocall without cfi",
    "python\ntry: gdb.execute('set whocall without nonsense')\nexcept gdb.error: pass",
    "show whocall without",
    "set whocall without",
)
Session = dict[Question, Answer]
WITH = (f"with whocall without cfi -- {(show := 'show whocall without')}", show)


def setting(name: str, value: str) -> tuple[str, str]:
    return f"set whocall {name} {value}", f"show whocall {name}"


def helps() -> Iterator[str]:
    yield from (f"help whocall {name}" for name in SUBCOMMANDS)
    yield from (f"help {verb} whocall {name}" for verb in ("set", "show") for name in NAMES)


@pytest.fixture(scope="module")
def session() -> Session:
    """One session without a program answers all of them."""
    questions: list[Question] = [*LISTS, *helps(), *(f"apropos {word}" for word in WORDS)]
    questions += ["apropos whocall", "whocall doctor", "whocall doctor -json", WITH, REFUSED]
    questions += [f"complete {line}" for line in COMPLETIONS]
    return asked([*questions, *(setting(*each) for each in SETTINGS)])


@pytest.fixture(scope="module")
def refused() -> dict[str, str]:
    return refusals(ERRORS)


def lines(session: Session, question: Question) -> list[str]:
    assert session[question].err == ""
    return session[question].out.splitlines()


def test_help_lists_the_subcommands(session: Session) -> None:
    out = session["help whocall"].out
    assert [f"whocall {name} -- " in out for name in SUBCOMMANDS] == [True] * len(SUBCOMMANDS)


def test_help_fits_the_screen(session: Session) -> None:
    for helped in ("help whocall", *(f"help whocall {name}" for name in SUBCOMMANDS)):
        wide = [line for line in lines(session, helped) if len(line) > 80]
        assert [line for line in wide if not line.startswith("Usage: ")] == []


def test_the_page_tells_of_every_command_and_setting() -> None:
    page = (SCRIPT.parents[1] / "docs" / "commands.md").read_text(encoding="utf-8")
    settings = page[page.index("## Settings in gdb") :]
    assert [name for name in SUBCOMMANDS if f"`whocall {name}" not in page] == []
    assert [name for name in NAMES if f"`{name}`" not in settings] == []


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_command_has_a_summary_sentence_and_its_usage(name: str, session: Session) -> None:
    helped = lines(session, f"help whocall {name}")
    assert helped[0].endswith(".")
    assert len(helped[0]) < 80
    assert f"Usage: whocall {name}" in "\n".join(helped)
    assert all(len(line) < 100 for line in helped)


def test_apropos(session: Session) -> None:
    found = session["apropos whocall"].out
    assert "whocall bt -- " in found
    assert "set whocall without -- Set the strategies" in found


@pytest.mark.parametrize("word", WORDS)
def test_apropos_finds_us_by_what_we_do(word: str, session: Session) -> None:
    assert "\nwhocall -- " in "\n" + session[f"apropos {word}"].out


@pytest.mark.parametrize("line", COMPLETIONS)
def test_completion(line: str, session: Session) -> None:
    assert lines(session, f"complete {line}") == COMPLETIONS[line]


@pytest.mark.parametrize("command", ERRORS)
def test_errors_are_one_sentence(command: str, refused: dict[str, str]) -> None:
    assert ERRORS[command] in refused[command]
    assert len(refused[command].strip().splitlines()) == 1
    assert refused[command].strip()[-1] in '.)"'


@pytest.mark.parametrize("command", ["whocall bt", "whocall nonsense", "set whocall nonsense"])
def test_an_error_is_all_that_is_said_and_gives_status_1(
    command: str, refused: dict[str, str]
) -> None:
    said = batch([command])
    assert (said.out, said.err.strip(), said.status) == ("", refused[command].strip(), 1)


@pytest.mark.parametrize(("name", "value"), SETTINGS)
def test_settings(name: str, value: str, session: Session) -> None:
    assert session[setting(name, value)].out.strip().endswith(SETTINGS[name, value])


def test_a_refused_setting_keeps_the_old_value(session: Session) -> None:
    assert lines(session, REFUSED) == ["The strategies that whocall does not use are cfi."]


def test_show_alone_shows_every_setting(session: Session) -> None:
    shown = lines(session, "show whocall")
    assert [line.split(":")[0] for line in shown] == [f"whocall {name}" for name in NAMES]
    assert lines(session, "info set whocall") == shown


def test_set_alone_lists_the_settings_as_gdbs_own_prefixes_do(session: Session) -> None:
    ours, gdbs = (lines(session, f"set {name}") for name in ("whocall", "backtrace"))
    assert ours[0].replace('"', "") == "List of set whocall subcommands:"  # gdb 18 quotes it
    assert [line.replace("backtrace", "whocall") for line in gdbs[-5:]] == ours[-5:]
    settings = [line.split(" -- ")[0] for line in ours if line.startswith("set ")]
    assert settings == [f"set whocall {name}" for name in NAMES]


@pytest.mark.parametrize("verb", ["set", "show"])
def test_every_setting_has_help(verb: str, session: Session) -> None:
    for name in NAMES:
        helped = lines(session, f"help {verb} whocall {name}")
        assert helped[0].startswith(f"{verb.title()} ")
        assert helped[0].endswith(".")
        assert len(helped) > 2
        assert max(map(len, helped)) < 100


def test_with_sets_for_one_command(session: Session) -> None:
    assert lines(session, WITH) == [
        "The strategies that whocall does not use are cfi.", "whocall uses all strategies.",
    ]  # fmt: skip


def test_settings_outlive_a_change_of_the_program() -> None:
    said = batch(["set whocall max-frames 7", "file /bin/true", "file", "show whocall max-frames"])
    assert said.out.strip().endswith("is 7.")


def test_doctor_is_content(session: Session) -> None:
    doctor = session["whocall doctor"].out
    assert "Everything is in order." in doctor
    assert "gdb:" in doctor


def test_doctor_tells_scripts_the_same(session: Session) -> None:
    told = json.loads(session["whocall doctor -json"].out)
    schema = Path(whocall.__file__).parent / "schema" / "doctor-1.json"
    jsonschema.validate(told, json.loads(schema.read_text()))
    assert told["healthy"]
    findings = [f"{each['subject']}: {each['text']}" for each in told["findings"]]
    *lines, _ = session["whocall doctor"].out.splitlines()
    assert findings == [re.sub(": +", ": ", line, count=1) for line in lines]
