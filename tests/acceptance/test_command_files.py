"""The manual page and the completions that follow from the table of commands, in the programs that
read them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

import whocall.commands as table


@pytest.fixture(scope="module")
def made(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("commands")
    subprocess.run([sys.executable, project_root / "scripts" / "commands", folder], check=True)
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a file and a folder to be completed."""
    (tmp_path / "core.4711").touch()
    (tmp_path / "core.folder").mkdir()
    return tmp_path


def said(*command: str | Path, folder: Path) -> list[str]:
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.splitlines()


# What is typed, and what is offered, all of it.
LINES = {
    "whocall tri": {"triage"},
    "whocall rep": {"repair-plan", "report"},
    "whocall --scr": {"--script-path"},
    "whocall bt --sys": {"--sysroot"},
    "whocall bt --no-s": {"--no-sandbox"},
    "whocall audit --sys": set(),
    "whocall triage --format h": {"html"},
    "whocall bt --color n": {"never"},
    "whocall bt core.4": {"core.4711"},
    "whocall bt --sysroot core.": {"core.folder"},
    "whocall gdb core.4": {"core.4711"},
}


@pytest.mark.parametrize("line", LINES)
def test_bash(line: str, made: Path, place: Path) -> None:
    words = line.split(" ")
    complete = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _whocall'
    command = f'{complete}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    found = said("bash", "-c", command, "-", made / "whocall.bash", *words, folder=place)
    assert set(found) - {""} == LINES[line]


@pytest.mark.parametrize("line", LINES)
def test_fish(line: str, made: Path, place: Path) -> None:
    command = f"source {made / 'whocall.fish'}; complete -C '{line}'"
    offered = said("fish", "--no-config", "-c", command, folder=place)
    found = {each.partition("\t")[0].rstrip("/") for each in offered}
    typed = line.rpartition(" ")[2]  # later releases offer what has these letters anywhere, too
    assert {each for each in found if each.startswith(typed)} == LINES[line]


def test_zsh(made: Path, place: Path) -> None:
    """By the lines that there is one answer to: the shell prints what they have become."""
    child = pexpect.spawn("zsh", ["-f", "-i"], cwd=place, encoding="utf-8", timeout=30)
    child.sendline(
        f"fpath=({made} $fpath); autoload -Uz compinit && compinit -u -D; print be${{:-gin}}"
    )
    child.expect("begin")
    for line, answers in LINES.items():
        if len(answers) == 1:
            (answer,) = answers
            child.send(f"{line}\t")
            child.sendcontrol("a")
            child.sendline("print -r -- TO${:-LD} ")
            child.expect_exact(f"TOLD {line.rpartition(' ')[0]} {answer}")
    child.close(force=True)


def test_the_manual_page_is_read_without_a_warning(made: Path, tmp_path: Path) -> None:
    page = made / "whocall.1"
    assert said("groff", "-man", "-ww", "-z", "-Tutf8", page, folder=tmp_path) == []


def test_the_manual_page_tells_of_every_option(made: Path, tmp_path: Path) -> None:
    page = made / "whocall.1"
    shown = "\n".join(said("groff", "-man", "-Tascii", "-P-cbou", page, folder=tmp_path))
    for name in table.own_names():
        assert f"whocall {name} " in shown
        options = [each for each in table.shell_command(name).takes if each.is_option]
        for each in options:
            assert (f"--{each.name}" in shown) is not each.hidden, each.name
    for _, command in table.gdb_commands():
        assert f"\n   {command.words}" in shown
        assert all(re.search(rf"^ +-{each.name}\b", shown, re.M) for each in command.options)
