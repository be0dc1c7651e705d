"""The judges see what is wrong: each of these raw outputs has a name in it as it came."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from attacker import judges
from attacker.names import NAMES
from whocall.base.printable import printable

SHOWN_AS_THEY_ARE = {
    *("script", "comment", "quotes", "template", "json", "markdown", "link", "formula"),
    *("shell", "option", "pipe", "format", "spaces", "backslashes", "wide", "looks alike"),
}


def decoded(word: str) -> str:
    return NAMES[word].decode("utf-8", "surrogateescape")


@pytest.mark.parametrize("word", sorted(NAMES.keys() - SHOWN_AS_THEY_ARE - {"tabs"}))
def test_a_raw_name_is_seen(word: str) -> None:
    raw = f"#0  0x401000 in {decoded(word)} ()  [cfi]\n"
    if word in ("gdb", "folded", "json end", "markdown code", "formula plus", "markdown table"):
        assert raw.count("\n") > 1  # text alone does not tell: the forms below do
        return
    assert [*judges.plain(raw)]


@pytest.mark.parametrize("word", NAMES)
def test_a_printable_one_is_right(word: str) -> None:
    assert [*judges.plain(f"#0  0x401000 in {printable(decoded(word))} ()  [cfi]\n")] == []


RAW: list[tuple[Callable[[str], Iterator[str]], str]] = [
    (judges.styled, "\x1b[33mname\x1b[32m\x1b[0m"),
    (judges.styled, "name\x1b[0m"),
    (judges.data, '"\u202e"'),
    (judges.shown_data, '"\\u202e"'),
    (judges.page, "<p><script>hit()</script>"),
    (judges.page, "<p onclick=hit()>"),
    (judges.page, "<p>a\u202eb"),
    (judges.picture, "<svg><script/></svg>"),
    (judges.picture, "<svg><title>a\u200bb</title></svg>"),
    (judges.folded, "main;Zq\n"),
    (judges.folded, "main;Zq 7;trusted 99\n"),
    (judges.markdown, "| 1 | Zq | a | b | c | d |"),
    (judges.markdown, "| 1 | Zq](http://x) | a | b | c |"),
    (judges.markdown, "| 1 | Zq<b> | a | b | c |"),
    (judges.mail, "ä"),
]


@pytest.mark.parametrize(("judge", "raw"), RAW)
def test_each_form_is_looked_at(judge: Callable[[str], Iterator[str]], raw: str) -> None:
    assert [*judge(raw)]
