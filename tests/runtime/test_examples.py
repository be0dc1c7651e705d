"""The examples that ask: each by its one command, with what the README of examples shows."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLAGS = {
    "-O0": ("-O0",),
    "not PIE": ("-no-pie", "-fno-pie"),
    "frame pointers, no tables": (
        *("-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables", "-fno-exceptions"),
    ),
    "-O0, no tables": ("-O0", "-fno-asynchronous-unwind-tables", "-fno-exceptions"),
}
_NUMBERS = re.compile(r"0x[0-9a-f]+|\[\d+\]|thread \d+|build id \S+")


def asked(*words: str) -> list[str]:
    ran = subprocess.run(
        [ROOT / "examples" / "ask", *words], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran
    assert ran.stderr == ""
    return ran.stdout.splitlines()


def shown() -> dict[str, list[str]]:
    """The output behind each command of the README."""
    text = (ROOT / "examples" / "README.md").read_text()
    blocks = re.findall(r"```\n\$ examples/ask (.+)\n((?:.*\n)*?)```", text)
    return {command: output.splitlines() for command, output in blocks}


def plain(lines: list[str]) -> list[str]:
    """Without what differs from run to run, from compiler to compiler and from loader to loader."""
    named = [line.replace(" /usr/lib/", " /lib/") for line in lines]  # one folder, by two names
    return [_NUMBERS.sub("N", line) for line in named if not line.startswith("module: ")]


@pytest.mark.parametrize("command", [each for each in shown() if " " not in each])
def test_what_the_readme_shows(command: str) -> None:
    assert plain(asked(*command.split())) == plain(shown()[command])


def test_the_readme_shows_all() -> None:
    usage = (ROOT / "examples" / "ask").read_text()
    (names,) = re.findall(r"^#   NAME   (.*)$", usage, re.MULTILINE)
    commands = shown()
    assert set(names.split(", ")) <= set(commands)
    sets = {words[1] for words in map(str.split, commands) if len(words) > 1}
    assert {"aarch64", "arm", "mips", "mips64el", "i386"} <= sets


@pytest.mark.parametrize("flags", [(), *FLAGS.values()], ids=["-O2", *FLAGS])
def test_the_callers_that_the_article_printed(flags: tuple[str, ...]) -> None:
    """The article's own output, beside ours."""
    text = (ROOT / "examples" / "README.md").read_text()
    printed = re.findall(r"<whocallme>: function <(\w+)> call me <(\w+)>!", text)
    assert len(printed) == 5
    ours = [line.split(" called ") for line in asked("article", "native", *flags)]
    names = [(caller.partition("+")[0], callee.partition("+")[0]) for caller, callee in ours]
    assert names == printed


@pytest.mark.parametrize("flags", FLAGS.values(), ids=FLAGS.keys())
def test_other_builds(flags: tuple[str, ...]) -> None:
    """The same callers by name, however the programs are built."""
    lines = asked("caller_static", "native", *flags)
    callers = [line.partition("+")[0] for line in lines if " called callee+" in line]
    assert callers == ["first_way", "second_way"]
    frames = [line.split()[3].partition("+")[0] for line in asked("test_abc", "native", *flags)[1:]]
    assert frames[:5] == ["test_c", "between", "test_b", "test_a", "main"]
    drawn = [line.partition("+")[0] for line in asked("library", "native", *flags)]
    assert drawn[0] == "library::Circle::draw(int) const"
    assert drawn[2] == "library::Square::draw(int) const"


@pytest.mark.parametrize("machine", ["native", "i386"])
def test_neither_tables_nor_frame_pointers(machine: str) -> None:
    """By its instructions, or in words that nothing leads on."""
    words = ("caller_static", machine, "-fno-asynchronous-unwind-tables", "-fomit-frame-pointer")
    assert plain(asked(*words)) == plain(shown()[" ".join(words)])
