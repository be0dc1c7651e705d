"""Paths that become part of a command, and lines of gdb's that are made of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from whocall.base.errors import Error
from whocall.base.gdb_lines import Number, folders, line, named, only, python_call, word
from whocall.base.programs import behind_dashes, option, path
from whocall.base.safe_paths import accepted


@pytest.mark.parametrize(
    "name", ["a b", 'a"b', "a'b", "a\\b", "$(x)", "#", "-x", "|x", "é", "\udcff"]
)
def test_what_is_taken_is_whole(name: str) -> None:
    assert accepted(f"/tmp/{name}") == f"/tmp/{name}"
    assert accepted(name) == f"{Path.cwd()}/{name}"
    assert accepted(f"/a/link/../{name}") == f"/a/link/../{name}"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("/a\nshell x", "has a line feed in its name"),
        ("/a\rb", "has a carriage return"),
        ("/a\tb", "has a tab"),
        ("/a\0b", "has a NUL"),
        ("/a\x1b[2K", "has a control character"),
        ("/a\x9b", "has a control character"),
        ("/" + "x" * 4096, "has a name of more than 4095 bytes"),
        ("", "a file without a name"),
    ],
)
def test_what_is_refused(name: str, why: str) -> None:
    for take in (accepted, named, path):
        with pytest.raises(Error, match=why) as error:
            take(name)
        assert str(error.value).isprintable()
        assert len(str(error.value)) < 400


def test_each_command_of_gdbs_reads_its_path() -> None:
    odd = named('/a "b" \\c')
    quoted = '"/a \\"b\\" \\\\c"'
    assert line("file", odd) == f"file {quoted}"
    assert line("add-symbol-file -o", 16, odd) == f"add-symbol-file -o 0x10 {quoted}"
    assert line("core-file", odd, version=15) == 'core-file /a "b" \\c'
    assert line("core-file", odd, version=16) == f"core-file {quoted}"
    assert line("set sysroot", odd) == 'set sysroot /a "b" \\c'
    assert line("info inferiors", Number(12)) == "info inferiors 12"
    with pytest.raises(AssertionError):
        line("shell", odd)


def test_what_gdb_cannot_be_given() -> None:
    blank = named("/a ")
    with pytest.raises(Error, match="ends in a blank"):
        line("core-file", blank, version=15)
    assert line("core-file", blank, version=16) == 'core-file "/a "'
    with pytest.raises(Error, match="not UTF-8"):
        named("/a\udcff")
    with pytest.raises(Error, match="has a colon"):
        folders("set solib-search-path", ["/a", "/b:/c"])
    with pytest.raises(Error, match="no name of gdb's"):
        word("a\nshell")
    assert named("target:/a") == "target:/a"


def test_a_pattern_stands_for_one_name() -> None:
    assert only("/a+b[1].so") == "^/a+b\\[1\\]\\.so$"
    assert only("/a \nshell x") == "^/a"


def test_a_call_is_one_line() -> None:
    said = python_call("print", "a\n'b'", ["\udcff", 1])
    assert said == "python print(\"a\\n'b'\", ['\\udcff', 1])"


def test_what_no_program_can_be_given() -> None:
    for value in ("a\0", "x" * (128 << 10)):
        with pytest.raises(Error, match="no program can be given"):
            option("--search", value)
    with pytest.raises(Error, match="holds a NUL"):
        behind_dashes("a\0")
    assert behind_dashes("-x") == ["--", "-x"]
    assert option("--search", "a b") == "--search=a b"
