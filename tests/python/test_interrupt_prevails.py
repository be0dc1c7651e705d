"""Ctrl-C stays Ctrl-C, whatever is raised on the way out of what it interrupts."""

from __future__ import annotations

import argparse

import pytest

from whocall.base.errors import Error
from whocall.base.interrupts import interrupt_prevails
from whocall.cli import main as command_line


def test_an_error_in_what_puts_things_in_order() -> None:
    with pytest.raises(KeyboardInterrupt), interrupt_prevails():
        try:
            raise KeyboardInterrupt
        finally:
            raise AttributeError("save_nargs")


def test_an_error_that_was_made_of_it() -> None:
    with pytest.raises(KeyboardInterrupt), interrupt_prevails():
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as interrupt:
            raise RuntimeError("Error calling __set_name__") from interrupt


def test_an_error_of_an_error() -> None:
    with pytest.raises(KeyboardInterrupt), interrupt_prevails():
        try:
            try:
                raise KeyboardInterrupt
            finally:
                raise OSError("closed")
        except OSError as error:
            raise Error("cannot be written") from error


def test_an_error_of_another_one_while_it_is_dealt_with() -> None:
    with pytest.raises(KeyboardInterrupt), interrupt_prevails():
        try:
            raise KeyboardInterrupt
        finally:
            raise Error("cannot be written") from OSError("full")


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(Error, match="no core"), interrupt_prevails():
        try:
            raise OSError("gone")
        except OSError:
            raise Error("no core") from None


def test_in_the_midst_of_argparse(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its parse_intermixed_args reads in a `finally` what it may not have set yet; later ones ask
    for the help alone.
    """

    def interrupted(self: argparse.ArgumentParser) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(argparse.ArgumentParser, "format_usage", interrupted)
    monkeypatch.setattr(argparse.ArgumentParser, "format_help", interrupted)
    assert command_line.main(["bt", "--help"]) == 130
    assert capsys.readouterr().err == ""
