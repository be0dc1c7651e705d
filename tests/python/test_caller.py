"""The answer of `whocall` alone."""

from __future__ import annotations

from dataclasses import replace

from literals import frames, trace

from whocall.report.backtrace.caller import sentence
from whocall.report.form.style import Style


def test_who_called_is_told_with_its_evidence() -> None:
    assert sentence(trace(), 1, Style()) == (
        "sub_1143 was called by qsort (+10) at 0x7f0000001bf4 in /lib/libc.so.6 [cfi: call-before]"
    )


def test_a_caller_that_rests_on_a_guess_says_so() -> None:
    chain = [replace(one, rests_on=1) if one.level > 1 else one for one in frames()]
    assert sentence(trace(chain), 1, Style()).endswith(
        " [cfi: call-before, but it rests on the search of the stack that found #1]"
    )
