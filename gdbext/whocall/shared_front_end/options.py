"""One parser for the options of the gdb commands, and the same for their completion.

The form is gdb's: one dash, unique abbreviations, `--` ends the options, and for commands that
count, COUNT or -COUNT. (Named tuples and not dataclasses: importing those would take a quarter of
the time in which gdb is to load us.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import whocall.commands as table
from whocall.base.errors import UsageError
from whocall.commands import Gdb, Parameter

_NUMBER = re.compile(r"-?(0[xX][0-9a-fA-F]+|[0-9]+)\Z")

Completer = Callable[[], Sequence[str]]


class Option(NamedTuple):
    """`-name`, or `-name VALUE` when `value` says what stands there."""

    name: str
    help: str
    value: str = ""
    kind: str = ""  # of the value: see the table of commands


class Parsed(NamedTuple):
    """What was found on a command's line."""

    flags: frozenset[str] = frozenset()
    values: Mapping[str, str] = MappingProxyType({})
    wanted: int | None = None  # frames: COUNT, or -COUNT
    arguments: tuple[str, ...] = ()

    def has(self, name: str) -> bool:
        """Whether the option -name was given."""
        return name in self.flags

    def items(self, name: str) -> list[str]:
        """The parts of a comma-separated value; empty when the option was not given."""
        return split_list(self.values.get(name, ""))


def split_list(text: str) -> list[str]:
    """The parts of `a,b c`: commas and blanks separate."""
    return [part for part in re.split(r"[,\s]+", text) if part]


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "none"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


class Syntax(NamedTuple):
    """What a command takes after its name."""

    command: str  # "whocall bt"
    options: tuple[Option, ...] = ()
    counts: bool = False
    most_arguments: int | None = 0  # None: any number
    dash: str = "-"

    def parse(self, line: str) -> Parsed:
        """Splits and parses what stands after the command; raises UsageError with a sentence."""
        import shlex

        try:
            words = shlex.split(line)
        except ValueError as error:
            raise UsageError(f"{self.command}: {str(error).lower()} in: {line}") from error
        return self.parse_words(words)

    def parse_words(self, words: Sequence[str]) -> Parsed:
        """Parses words that are split already; raises UsageError with a sentence."""
        flags: set[str] = set()
        values: dict[str, str] = {}
        count: int | None = None
        arguments: list[str] = []
        position = 0
        while position < len(words):
            word = words[position]
            position += 1
            if word == "--":
                arguments += words[position:]
                break
            if self.counts and _NUMBER.match(word):
                if count is not None:
                    raise UsageError(f"{self.command} takes one COUNT, not two")
                count = self._count(word)
            elif word.startswith(self.dash) and len(word) > len(self.dash):
                option = self._find(word)
                flags.add(option.name)
                if option.value:
                    if position == len(words):
                        raise UsageError(
                            f"{self.command} {self.dash}{option.name} must be followed by"
                            f" {option.value}"
                        )
                    values[option.name] = words[position]
                    position += 1
            else:
                arguments.append(word)
        self._check(arguments)
        return Parsed(frozenset(flags), values, count, tuple(arguments))

    def _count(self, word: str) -> int:
        count = int(word, 16 if "x" in word.lower() else 10)
        if count == 0:
            raise UsageError(f"{self.command}: a COUNT of 0 asks for no frames")
        return count

    def _check(self, arguments: Sequence[str]) -> None:
        if self.most_arguments is None or len(arguments) <= self.most_arguments:
            return
        surplus = arguments[self.most_arguments]
        if self.counts:
            raise UsageError(
                f'{self.command}: "{surplus}" is neither an option nor a COUNT of frames'
            )
        writes = any(option.name == "output" for option in self.options)
        hint = "; the file to write is named behind -output" if writes else ""
        raise UsageError(f'{self.command} cannot do anything with "{surplus}"{hint}')

    def _find(self, word: str) -> Option:
        wanted = word[len(self.dash) :]
        for option in self.options:
            if wanted in (option.name, f"-{option.name}"):  # as the command line has it, too
                return option
        fitting = [option for option in self.options if option.name.startswith(wanted)]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            names = _listed([self.dash + option.name for option in fitting])
            raise UsageError(f'{self.command}: "{word}" is ambiguous between {names}')
        known = _listed([self.dash + option.name for option in self.options])
        raise UsageError(f'{self.command} has no option "{word}"; its options: {known}')

    def complete(self, text: str, completers: Mapping[str, Completer]) -> list[str]:
        """The words that may stand where `text` (what follows the command) ends.

        `completers` gives the values of options by their kinds. The words begin with the last
        word of `text`, which may be empty.
        """
        words = text.split()
        last = "" if not text or text[-1].isspace() else words.pop()
        if "--" in words:
            return []
        option = self._awaiting(words)
        if option is not None:
            return _complete_value(option, last, completers)
        if last and not last.startswith("-"):
            return []
        offered = [f"-{option.name}" for option in self.options]
        return [name for name in offered if name.startswith(last) and name not in words]

    def wants_file(self, text: str) -> bool:
        """Whether the word where `text` ends is a file for a command that takes files."""
        words = text.split()
        if text and not text[-1].isspace():
            words.pop()
        option = self._awaiting(words)
        return (option is not None and option.kind == "file") or self.wants_argument(text)

    def wants_argument(self, text: str) -> bool:
        """Whether the word where `text` ends is an argument, neither an option nor its value."""
        words = text.split()
        last = "" if not text or text[-1].isspace() else words.pop()
        return "--" in words or (not last.startswith("-") and self._awaiting(words) is None)

    def _awaiting(self, words: Sequence[str]) -> Option | None:
        if not words or not words[-1].startswith("-"):
            return None
        try:
            option = self._find(words[-1])
        except UsageError:
            return None
        return option if option.value else None


def _complete_value(option: Option, last: str, completers: Mapping[str, Completer]) -> list[str]:
    choose = completers.get(option.kind)
    if choose is None:
        return []
    done, part = "", last
    if option.kind == "strategies" and "," in last:
        done, part = last.rsplit(",", 1)
        done += ","
    taken = set(done.split(","))
    return [done + name for name in choose() if name.startswith(part) and name not in taken]


def from_word(candidates: Sequence[str], text: str, word: str | None) -> list[str]:
    """The candidates cut to what gdb replaces.

    gdb breaks words at `-` and `,` too: for the text `-without frame-p` its word is `p`, and it
    puts our answer in the place of that word alone.
    """
    if word is None:
        return list(candidates)
    last = "" if not text or text[-1].isspace() else text.split()[-1]
    skip = max(len(last) - len(word), 0)
    return [candidate[skip:] for candidate in candidates]


def _option(row: Parameter) -> Option:
    return Option(row.name, row.help, row.metavar, row.kind)


def _syntax(command: Gdb, dash: str) -> Syntax:
    arguments = command.arguments
    endless = any(each.number in ("*", "+") for each in arguments)
    return Syntax(
        command.words,
        tuple(map(_option, command.options)),
        command.counts,
        None if endless else len(arguments),
        dash,
    )


@cache
def syntax(name: str) -> Syntax:
    """Of the command that has this name in the table of commands, in gdb's console."""
    return _syntax(table.gdb(name), "-")


@cache
def machine_syntax(name: str) -> Syntax:
    """The same in the machine interface."""
    return _syntax(table.machine_interface(name), "--")
