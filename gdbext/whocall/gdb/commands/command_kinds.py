"""Commands as gdb has them: how one is run, helped on and completed. What does the work is imported
at the first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import gdb

from whocall.base.cut_files import whole_files
from whocall.base.errors import Error, MemoryShortError, NativeMissingError
from whocall.base.interrupts import interrupt_prevails
from whocall.base.long_work import left_out
from whocall.commands import module_name
from whocall.gdb.host.downloads import begin_command, silence
from whocall.gdb.host.kept import owed, settle
from whocall.gdb.host.output import refusal

if TYPE_CHECKING:
    from whocall.shared_front_end.options import Syntax


def _run_here_or_in_subprocess(home: str, argument: Any) -> Any:
    """Where this Python cannot load the native module another one may do the work."""
    module = import_module(home)
    try:
        return module.run(argument)
    except NativeMissingError:
        from whocall.gdb.host.subprocess_backend import other_python

        run_elsewhere = getattr(module, "run_elsewhere", None)
        if run_elsewhere is None or other_python() is None:
            raise
    return run_elsewhere(argument)


def _tell_left_out() -> None:
    sentences = left_out()
    if sentences:
        from whocall.gdb.host.output import warn

        warn(sentences)


def run(home: str, argument: Any) -> Any:
    """Calls `run(argument)` of the module `home`; its errors become gdb's, in one sentence.

    KeyboardInterrupt, which the pager's `q` raises too, passes through.
    """
    begin_command()
    callers = owed()
    try:
        with interrupt_prevails(), whole_files():
            done = _run_here_or_in_subprocess(home, argument)
        _tell_left_out()
        return done
    except Error as error:
        _tell_left_out()
        raise refusal(error) from error
    except MemoryError as error:
        raise refusal(MemoryShortError()) from error
    except gdb.error as error:
        raise refusal(error) from error
    except UnicodeDecodeError as error:  # gdb gives names of files to Python as UTF-8 only
        raise refusal(
            "A file of the process has a name that is not UTF-8, which gdb cannot give to Python;"
            " rename the file, or run whocall outside gdb."
        ) from error
    finally:
        settle(callers)


def home_of(name: str) -> str:
    """The module of the command that has this name in the table."""
    return f"whocall.gdb.commands.{module_name(name)}"


def _from_word(candidates: Sequence[str], text: str, word: str) -> list[str]:
    from whocall.shared_front_end.options import from_word

    return from_word(candidates, text, word)


class Command(gdb.Command):
    """A subcommand with expressions, of this name in the table of commands; the run(line) of its
    module does the work.
    """

    _completed_by_gdb: tuple[Any, ...] = (gdb.COMPLETE_EXPRESSION,)

    def __init__(self, name: str, words: str, doc: str) -> None:
        self.__doc__ = doc
        self._name = name
        super().__init__(words, gdb.COMMAND_STACK, *self._completed_by_gdb)

    def invoke(self, argument: str, from_tty: bool) -> None:
        """gdb calls this to run the command."""
        run(home_of(self._name), argument)


class CompletingCommand(Command):
    """A subcommand with options; having `complete` keeps gdb from completing by itself."""

    _completed_by_gdb = ()

    @property
    def _syntax(self) -> Syntax:
        from whocall.shared_front_end.options import syntax

        return syntax(self._name)

    def complete(self, text: str, word: str | None) -> list[str] | int:
        """gdb calls this for TAB and `complete`, first without a word, only to learn where words
        begin. What goes wrong there or is said would only disturb the line.
        """
        if word is None:
            return []
        silence()
        try:
            return self._completions(text, word)
        except Exception:
            return []

    def _completions(self, text: str, word: str) -> list[str] | int:
        from whocall.gdb.commands.completion import COMPLETERS

        return _from_word(self._syntax.complete(text, COMPLETERS), text, word)


class FunctionsCommand(CompletingCommand):
    """A subcommand with options and the name of a function."""

    def _completions(self, text: str, word: str) -> list[str] | int:
        from whocall.gdb.commands.completion import functions

        if text[-1:].strip() and self._syntax.wants_argument(text):
            return _from_word(functions(text), text, word)
        return super()._completions(text, word)


class ModulesCommand(CompletingCommand):
    """A subcommand with options and modules."""

    def _completions(self, text: str, word: str) -> list[str] | int:
        from whocall.gdb.commands.completion import modules

        if not (text[-1:].strip() and self._syntax.wants_argument(text)):
            return super()._completions(text, word)
        start = text.split()[-1]
        return _from_word([m for m in modules() if m.startswith(start)], text, word)


class FileCommand(CompletingCommand):
    """A subcommand with options and a FILE."""

    def complete(self, text: str, word: str | None) -> list[str] | int:
        """As above; an answer that is a number leaves the completion to gdb.

        gdb's own completer of file names takes all of the text for one, options too.
        """
        if not text.split(maxsplit=1)[1:] and not text.startswith("-") and not text[-1:].isspace():
            return gdb.COMPLETE_FILENAME
        return super().complete(text, word)

    def _completions(self, text: str, word: str) -> list[str] | int:
        if not self._syntax.wants_file(text):
            return super()._completions(text, word)
        from whocall.gdb.commands.completion import files

        return _from_word(files("" if text[-1:].isspace() else text.split()[-1]), text, word)


class Prefix(gdb.Command):
    """A command with subcommands that does something alone too."""

    def __init__(self, name: str, words: str, doc: str) -> None:
        self.__doc__ = doc
        self._name = name
        self._words = words
        super().__init__(words, gdb.COMMAND_STACK, gdb.COMPLETE_NONE, True)

    def invoke(self, argument: str, from_tty: bool) -> None:
        """The prefix alone, or with a word behind it that is no subcommand."""
        if argument.strip():
            word = argument.split()[0]
            raise refusal(f'Undefined {self._words} command: "{word}".  Try "help {self._words}".')
        run(home_of(self._name), "")
