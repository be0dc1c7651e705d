"""The options of the gdb commands: parsing, complaints, completion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whocall.base.errors import UsageError
from whocall.shared_front_end import options
from whocall.shared_front_end.options import from_word, machine_syntax, syntax

BACKTRACE, FUNCTIONS, MODULES = (syntax(name) for name in ("bt", "functions", "modules"))
MI_BACKTRACE = machine_syntax("bt")
COMPLETERS = {
    "strategies": lambda: ["cfi", "frame-pointer", "scan"],
    "module": lambda: ["libc.so.6"],
}


def test_everything_at_once() -> None:
    parsed = BACKTRACE.parse("-all -json -without cfi,scan -5")
    assert parsed.flags == {"all", "json", "without"}
    assert parsed.items("without") == ["cfi", "scan"]
    assert parsed.wanted == -5


def test_nothing() -> None:
    parsed = BACKTRACE.parse("")
    assert not parsed.flags
    assert parsed.wanted is None
    assert parsed.items("without") == []


@pytest.mark.parametrize("line", ["-past", "-p", "-past-main"])
def test_unique_abbreviations(line: str) -> None:
    assert BACKTRACE.parse(line).has("past-main")


@pytest.mark.parametrize(
    ("line", "count"), [("3", 3), ("-3", -3), ("0x10", 16), ("-full 7", 7), ("7 -full", 7)]
)
def test_counts(line: str, count: int) -> None:
    assert BACKTRACE.parse(line).wanted == count


def test_two_dashes_end_the_options() -> None:
    assert FUNCTIONS.parse("-json -- -weird").arguments == ("-weird",)


def test_quotes_keep_blanks() -> None:
    assert FUNCTIONS.parse('-module "a b.so" "operator new"').arguments == ("operator new",)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        (
            "-nonsense",
            "its options: -all, -explain, -full, -json, -no-arguments, -no-fold, -past-main and",
        ),
        ("-without", "must be followed by LIST"),
        ("1 2", "one COUNT"),
        ("0", "asks for no frames"),
        ("frame", "neither an option nor a COUNT of frames"),
        ('"open', "no closing quotation"),
    ],
)
def test_complaints_say_what_is_known(line: str, part: str) -> None:
    with pytest.raises(UsageError, match="whocall bt") as complaint:
        BACKTRACE.parse(line)
    assert part in str(complaint.value)


def test_ambiguous_abbreviation() -> None:
    syntax = options.Syntax("x", (options.Option("full", ""), options.Option("fast", "")))
    with pytest.raises(UsageError, match="ambiguous between -full and -fast"):
        syntax.parse("-f")


def test_a_command_without_arguments_refuses_them() -> None:
    with pytest.raises(UsageError, match='cannot do anything with "libc"'):
        MODULES.parse("libc")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("-f", ["-full"]),
        ("-all -js", ["-json"]),
        ("-without ", ["cfi", "frame-pointer", "scan"]),
        ("-without cfi,s", ["cfi,scan"]),
        ("-without cfi,", ["cfi,frame-pointer", "cfi,scan"]),
        ("5", []),
        ("-- -f", []),
    ],
)
def test_completion(text: str, words: list[str]) -> None:
    assert BACKTRACE.complete(text, COMPLETERS) == words


def test_completion_of_values_without_chooser() -> None:
    assert BACKTRACE.complete("-without c", {}) == []


@pytest.mark.parametrize(
    ("text", "word", "given"),
    [
        ("-without frame-p", "p", ["pointer"]),  # gdb 13 breaks words at the dash
        ("-f", "f", ["full"]),
        ("-f", "-f", ["-full"]),
        ("-f", None, ["-full"]),
        ("", "", ["-all"]),
    ],
)
def test_candidates_are_cut_to_the_word_that_gdb_replaces(
    text: str, word: str | None, given: list[str]
) -> None:
    whole = {"-without frame-p": "frame-pointer", "-f": "-full", "": "-all"}[text]
    assert from_word([whole], text, word) == given


@given(st.text(alphabet="-abcdefjlnostuwx0123456789 ,\"'\\", max_size=30))
def test_any_line_parses_or_is_refused_in_one_sentence(line: str) -> None:
    try:
        parsed = BACKTRACE.parse(line)
    except UsageError as complaint:
        assert "\n" not in str(complaint)
    else:
        assert parsed.flags <= {option.name for option in BACKTRACE.options}
        assert parsed.arguments == ()


@given(st.text(alphabet="-abcdefjlnostuwx, ", max_size=20))
def test_completions_continue_the_last_word(text: str) -> None:
    last = "" if not text or text[-1].isspace() else text.split()[-1]
    assert all(word.startswith(last) for word in BACKTRACE.complete(text, COMPLETERS))


def test_commands_of_the_machine_interface_have_two_dashes() -> None:
    parsed = MI_BACKTRACE.parse_words(["--past-main", "-3", "--without", "cfi,scan"])
    assert parsed.flags == {"past-main", "without"}
    assert parsed.wanted == -3
    assert parsed.items("without") == ["cfi", "scan"]
    with pytest.raises(UsageError, match='has no option "--x"; its options: --all-threads, '):
        MI_BACKTRACE.parse_words(["--x"])
    with pytest.raises(UsageError, match='"-past-main" is neither an option nor a COUNT'):
        MI_BACKTRACE.parse_words(["-past-main"])
