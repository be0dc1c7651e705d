"""argparse's parser, whose complaints are one sentence and where the help is."""

from __future__ import annotations

import argparse
from typing import NoReturn

from whocall.base.errors import UsageError


class UsageParser(argparse.ArgumentParser):
    """The usage, which argparse prints before each complaint, is a dozen lines for one word."""

    def error(self, message: str) -> NoReturn:
        """Raises UsageError."""
        raise UsageError(f'{message}; "{self.prog} --help" tells what there is')
