"""Names as they are shown: in Python as in native code, in text and in JSON."""

from __future__ import annotations

import json
import os
import random

import pytest

from whocall.base.native_module import native
from whocall.base.printable import printable, printable_line, safe_json
from whocall.report.form.jsonform import quoted, text
from whocall.report.form.style import AnsiStyle, Style, shown_line, shown_text

NAMES = {
    "main": "main",
    "a\n#1 0x401000 in trusted_fn () at safe.c:1 [cfi]":
        "a\\n#1 0x401000 in trusted_fn () at safe.c:1 [cfi]",
    "\r\x1b[K\x1b[8m\x07\x7f\t": "\\r\\x1b[K\\x1b[8m\\x07\\x7f\\t",
    "\x85\x9b2J": "\\u0085\\u009b2J",
    "\u202egnp.exe\u2066\u061c": "\\u202egnp.exe\\u2066\\u061c",
    "\u2028\u200b\ufeff\u3164": "\\u2028\\u200b\\ufeff\\u3164",
    "\uffff\U000e0041": "\\uffff\\U000e0041",
    "\udcff \udcc3(": "\\xff \\xc3(",
    "\ud800": "\\ud800",
    "C:\\new\\x1b": "C:\\new\\x1b",
    "\u00e4\u20ac\U0001f600\u00a0\ue000\ufffd": "\u00e4\u20ac\U0001f600\u00a0\ue000\ufffd",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_what_cannot_be_seen_is_told(name: str) -> None:
    assert printable(name) == NAMES[name]
    assert printable(NAMES[name]) == NAMES[name]
    assert NAMES[name].encode()


def test_native_code_says_the_same_of_every_character() -> None:
    for code in [*range(0xD800), *range(0xE000, 0x110000)]:
        if code < 0x3000 or code & 0xFFF > 0xFF0 or code & 0xFF in (0, 0x41) or code > 0xF000:
            assert native.printable(chr(code)) == printable(chr(code)), hex(code)
            if code > 0x20000 and code < 0xE0000:
                assert printable(chr(code)) == chr(code) or code & 0xFFFE == 0xFFFE


def test_native_code_says_the_same_of_any_bytes() -> None:
    chance = random.Random(1)
    alphabets = [
        bytes(range(256)),
        b"abc\n\x1b\xe2\x80\xae\xc2\x9b\xff\xf3\xa0\x81\xed",
        b"ab\x7f\xc3",
    ]
    for turn in range(30_000):
        alphabet = alphabets[turn % 3]
        name = os.fsdecode(bytes(chance.choices(alphabet, k=chance.randrange(24))))
        assert native.printable(name) == printable(name)


def test_json_has_the_name_itself() -> None:
    for name in NAMES:
        written = quoted(name)
        assert json.loads(written) == name
        assert "\n" not in printable(written)
        assert printable(written) == written
        assert written.encode()
        assert text([name]) == f"[\n {written}\n]\n"
    assert safe_json("\U000e0041") == "\\udb40\\udc41"


def test_a_name_cannot_hold_a_style() -> None:
    style = AnsiStyle()
    name = "a\x1b[33mb\x1b[0m"
    assert style.paint("function", name) == "\x1b[33ma\\x1b[33mb\\x1b[0m\x1b[0m"
    assert Style().paint("function", name) == "a\\x1b[33mb\\x1b[0m"


def test_a_line_on_its_way_out_has_our_styles_alone() -> None:
    style = AnsiStyle()
    line = f"{style.paint('title', 'x')} \x1b[8mhidden\x1b[K\r\n#1"
    assert shown_line(line) == "\x1b[1mx\x1b[0m \\x1b[8mhidden\\x1b[K\\r\\n#1"
    assert shown_text("a\nb\tc\r\n\x1b[8m\r") == "a\nb\tc\r\n\\x1b[8m\\r"
    assert printable_line("a\tb\n", kept="\t") == "a\tb\\n"
