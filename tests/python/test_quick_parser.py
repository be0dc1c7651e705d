"""Plain words are parsed as argparse parses them, and what is not plain is left to it."""

from __future__ import annotations

import argparse
import random

import pytest

import whocall.commands as table
from whocall.cli.parsing import taken_by, tell
from whocall.cli.quick_parser import plainly

COMMANDS = {name: table.shell(name) for name in table.own_names()}
WORDS = [
    "a", "b", "7", "-7", "0", "", "-", "--", "-n", "-o", "--all", "--thread", "--json", "--exe",
    "--search", "--symbols", "--max-frames", "--count", "--frame", "--js", "--exe=x", "--full",
    "--output", "--folder", "--module", "--limit", "--no-demangle", "--help", "-x y", "--pid",
]  # fmt: skip


def by_argparse(name: str, words: list[str]) -> dict[str, object] | None:
    """What it finds; None for mistakes and help."""
    parser = argparse.ArgumentParser(prog=name)
    tell(parser, COMMANDS[name])
    try:
        return vars(parser.parse_intermixed_args(words))
    except SystemExit:
        return None


def by_plain(name: str, words: list[str]) -> dict[str, object] | None:
    values = plainly(taken_by(COMMANDS[name]), words)
    return None if values is None else vars(values)


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_plain_has_the_meaning_that_argparse_gives_it(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    chooser = random.Random(name)
    plain = 0
    for _ in range(400):
        words = chooser.choices(WORDS, k=chooser.randrange(6))
        values = by_plain(name, words)
        if values is not None:
            assert values == by_argparse(name, words), words
            plain += 1
    capsys.readouterr()
    assert plain > 0 or name in (
        "export",
        "signatures",
        "symbol",
        "repair-plan",
        "report",
        "unpack",
        "shrink",
    )


@pytest.mark.parametrize(
    "words",
    [["core"], ["core", "exe"], ["core", "--all", "exe"], ["--json", "core"], ["--pid", "7"],
     ["core", "exe", "more", "--all", "b"],
     ["core", "-n", "3", "--symbols", "a", "--symbols", "b"], []],
)  # fmt: skip
def test_what_is_typed_daily_is_plain(words: list[str]) -> None:
    values = by_plain("bt", words)
    assert values is not None
    assert values == by_argparse("bt", words)


@pytest.mark.parametrize(
    "words",
    [["--help"], ["core", "-n", "0"], ["core", "-n", "-3"], ["--al"],
     ["--search"], ["--all", "--thread", "1"], ["--exe=x"], ["--", "core"], ["-"]],
)  # fmt: skip
def test_what_is_not_plain_is_left_to_argparse(words: list[str]) -> None:
    assert by_plain("bt", words) is None
