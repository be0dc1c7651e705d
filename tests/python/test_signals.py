"""Names of signals."""

from __future__ import annotations

import signal

import pytest

from whocall.base.signals import signal_name, tells_of_a_crash


def test_the_table_is_that_of_this_machine() -> None:
    for number in range(1, 32):
        named = signal_name("x86_64", number)
        assert getattr(signal, str(named), None) == number


@pytest.mark.parametrize(
    ("arch", "number", "name"),
    [("mips", 10, "SIGBUS"), ("mipsel", 11, "SIGSEGV"), ("arm", 34, "SIG34"), ("arm", 0, None)],
)
def test_others(arch: str, number: int, name: str | None) -> None:
    assert signal_name(arch, number) == name


@pytest.mark.parametrize(("name", "crash"), [("SIGSEGV", True), ("SIGTRAP", False), (None, False)])
def test_signals_of_a_crash(name: str | None, crash: bool) -> None:
    assert tells_of_a_crash(name) == crash
