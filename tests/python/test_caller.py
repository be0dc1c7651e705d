"""The answer of `whocall` alone."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from literals import frames, trace

from whocall.base.process_image import ProcessImage
from whocall.report.backtrace.caller import sentence, sentence_lines
from whocall.report.form.file_names import FileNames
from whocall.report.form.style import AnsiStyle, Style

IMAGE = cast(ProcessImage, None)  # is asked for absolute paths of sources alone


def test_who_called_is_told_with_its_evidence() -> None:
    assert sentence(trace(), 1) == (
        "sub_1143 was called by qsort (+10) at 0x7f0000001bf4 in /lib/libc.so.6 [cfi: call-before]"
    )


def test_a_caller_that_rests_on_a_guess_says_so() -> None:
    chain = [replace(one, rests_on=1) if one.level > 1 else one for one in frames()]
    assert sentence(trace(chain), 1).endswith(
        " [cfi: call-before, but it rests on the search of the stack that found #1]"
    )


def test_on_a_screen_the_sentence_is_broken_between_words_and_modules_have_base_names() -> None:
    files = FileNames("relative", ["/lib/libc.so.6"])
    assert sentence_lines(IMAGE, trace(), 1, files, Style(), 0) == [
        "sub_1143 was called by qsort (+10) at 0x7f0000001bf4 in libc.so.6 [cfi: call-before]"
    ]
    assert sentence_lines(IMAGE, trace(), 1, files, Style(), 40) == [
        "sub_1143 was called by qsort (+10) at",
        "  0x7f0000001bf4 in libc.so.6 [cfi:",
        "  call-before]",
    ]
    whole = FileNames("absolute", [])
    assert " in /lib/libc.so.6 [" in sentence_lines(IMAGE, trace(), 1, whole, Style(), 0)[0]


def test_names_in_the_sentence_lose_what_bt_leaves_out_and_are_never_broken() -> None:
    name = "std::map<std::string, std::vector<std::pair<int, long> > >::find(std::string const&)"
    chain = [replace(one, function=name) if one.level == 2 else one for one in frames()]
    told = sentence_lines(IMAGE, trace(chain), 1, FileNames("relative", []), AnsiStyle(), 60)
    assert told[0] == "\x1b[33msub_1143\x1b[0m was called by"
    short = "std::map<...>::find(std::string const&)"
    assert told[1].startswith(f"  \x1b[33m{short}\x1b[0m (+10)")
