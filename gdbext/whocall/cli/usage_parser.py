"""argparse's parser, whose complaints are one sentence and where the help is."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from whocall.base.errors import UsageError


class UsageParser(argparse.ArgumentParser):
    """The usage, which argparse prints before each complaint, is a dozen lines for one word."""

    def error(self, message: str) -> NoReturn:
        """Raises UsageError."""
        raise UsageError(f'{message}; "{self.prog} --help" tells what there is')

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Of `--search=--` argparse, up to Python 3.12, makes an empty list."""
        if action.option_strings and action.nargs is None and arg_strings == ["--"]:
            value = self._get_value(action, "--")
            self._check_value(action, value)
            return value
        return super()._get_values(action, arg_strings)
