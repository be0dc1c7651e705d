"""The settings: `set whocall ...` and `show whocall ...`.

What gdb has a setting for is gdb's: `set print demangle`, `set style ...`, `set backtrace
past-main`, `set sysroot`, `set solib-search-path`, `set debug-file-directory`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gdb

from whocall.base.errors import Error, NativeMissingError
from whocall.base.gdb_lines import word
from whocall.base.records import dataclass
from whocall.gdb.host import console
from whocall.gdb.host.output import refusal, write_text
from whocall.gdb.host.settings import asks_debuginfod
from whocall.shared_front_end.options import split_list

_listeners: dict[str, list[Callable[[Any], None]]] = {}  # by the setting's name


def on_change(name: str, listener: Callable[[Any], None]) -> None:
    """Has `listener` called with each new value of the setting, which it refuses by an Error.

    So the settings need not know whom they concern.
    """
    _listeners.setdefault(name, []).append(listener)


def _announce(name: str, value: Any) -> None:
    for listener in _listeners.get(name, ()):
        listener(value)


@dataclass(frozen=True)
class _Row:
    """What one setting differs from the others in."""

    kind: int  # one of gdb.PARAM_*
    value: Any  # the first one
    what: str  # the object of "Set ..." and "Show ..."
    more: str
    shown: Callable[[str], str]  # the sentence of "show" by the value's text
    choices: Sequence[str] = ()
    begins_anew: bool = False  # where a value is refused, the first one is taken, not the last


class _Setting(gdb.Parameter):
    """A setting. Its listeners hear each new value, and an Error of theirs refuses it."""

    def __init__(self, name: str, row: _Row) -> None:
        self.__doc__ = row.more  # what gdb shows behind the two sentences in its help
        self.set_doc = f"Set {row.what}."
        self.show_doc = f"Show {row.what}."
        self._name, self._row = name, row
        choices = (row.choices,) if row.choices else ()
        super().__init__(f"whocall {name}", gdb.COMMAND_STACK, row.kind, *choices)
        self.value = self._good = row.value

    def get_set_string(self) -> str:
        """Says nothing, as gdb does. What is refused leaves the last good value."""
        try:
            _announce(self._name, self.value)
        except (Error, ValueError) as error:
            self.value = self._good
            raise refusal(error) from error
        self._good = self._row.value if self._row.begins_anew else self.value
        return ""

    def get_show_string(self, value: str) -> str:
        """gdb prints this for `show`."""
        return self._row.shown(value)


def _shown_without(value: str) -> str:
    names = split_list(value)
    if not names:
        return "whocall uses all strategies."
    return f"The strategies that whocall does not use are {', '.join(names)}."


def _shown_debuginfod(value: str) -> str:
    now = f" (currently {'on' if asks_debuginfod() else 'off'})" if value == "auto" else ""
    return f'Asking debuginfod servers for what is missing is "{value}"{now}.'


def _known_strategies(value: str) -> None:
    """Raises Error and ValueError for a name that is none."""
    try:
        from whocall.base.native_module import native
    except NativeMissingError:
        return  # whoever is to do without them will see
    native.WalkOptions(without=split_list(value))


_ROWS = {
    "auto-repair": _Row(
        gdb.PARAM_BOOLEAN,
        False,
        "whether whocall repairs gdb's own commands by itself",
        """Whether whocall repairs gdb by itself, as "whocall repair" does.

    When it is on, gdb is given names and unwinding rules for the files that it loads, and its
    stacks are made right whenever the program stops. "whocall revert" takes that back and switches
    it off.""",
        "Repairing gdb's own commands by itself is {}.".format,
        begins_anew=True,
    ),
    "search-path": _Row(
        gdb.PARAM_OPTIONAL_FILENAME,
        "",
        "the directories in which whocall looks for files",
        """Directories in which whocall looks for files, separated by colons.

    They are searched by file name and by build id for programs and libraries that are not at the
    places where the process had them, or are of another build. gdb's own solib-search-path,
    sysroot and debug-file-directory are searched as well.""",
        'The directories in which whocall looks for files are "{}".'.format,
    ),
    "symbol-files": _Row(
        gdb.PARAM_OPTIONAL_FILENAME,
        "",
        "the files with names of functions",
        """Files with names of functions, separated by colons: [MODULE=]FILE[@BASE].

    FILE is a linker map, what nm, "objdump -t" or "readelf -sW" prints, a Breakpad .sym file, or
    CSV or JSON with names and addresses, as decompilers export them. MODULE is the end of the path
    of the file that it is for; without it that is told by FILE's build id or its name, else it is
    the program. BASE (hexadecimal) is what FILE adds to the addresses in the module's file: 100000
    for a position-independent program in Ghidra. Setting the list reads its files anew.""",
        'The files with names of functions are "{}".'.format,
    ),
    "signature-files": _Row(
        gdb.PARAM_OPTIONAL_FILENAME,
        "",
        "the files by which whocall recognises functions of libraries and other builds",
        """Files that "whocall signatures" has made, or FLIRT's (.sig, .pat), separated by colons.

    By them whocall recognises the functions of static libraries in stripped programs that were
    linked with them, and those of programs and shared libraries in stripped other builds of them.
    Names that come from there end in a question mark.""",
        'The files by which whocall recognises functions of libraries and other builds are "{}".'
        "".format,
    ),
    "max-frames": _Row(
        gdb.PARAM_UINTEGER,
        None,
        "the most frames of one thread that whocall looks for",
        """The most frames of one thread that whocall looks for.

    0 and unlimited mean about a million.""",
        "The most frames of one thread that whocall looks for is {}.".format,
    ),
    "without": _Row(
        gdb.PARAM_STRING,
        "",
        "the strategies that whocall does not use",
        """Strategies that whocall does not use, separated by commas, such as cfi,frame-pointer.

    An empty list switches all of them on. "whocall bt -without" adds to it for one command.""",
        _shown_without,
    ),
    "fold": _Row(
        gdb.PARAM_BOOLEAN,
        True,
        'whether "whocall bt" folds frames that repeat into a line',
        """Whether "whocall bt" folds frames that repeat into a line.

    Of an endless recursion it shows the first cycle of functions and the last frames. "whocall bt
    -no-fold" shows every frame for once.""",
        "Folding of frames that repeat is {}.".format,
    ),
    "debuginfod": _Row(
        gdb.PARAM_ENUM,
        "auto",
        "whether whocall asks debuginfod servers for what is missing",
        """Whether whocall asks debuginfod servers for files and debug info that are missing.

    auto, the default, asks them when gdb's own "debuginfod enabled" is on; whocall does not ask
    you, so "ask" counts as off. The servers are those of "set debuginfod urls", which begins
    as the environment variable DEBUGINFOD_URLS. Debug info is fetched for modules in which frames
    lie, and files of modules that are missing.""",
        _shown_debuginfod,
        choices=("auto", "on", "off"),
    ),
    "helper": _Row(
        gdb.PARAM_BOOLEAN,
        True,
        "whether a process of its own reads cores for whocall",
        """Whether a process of its own reads cores and their files for whocall.

    That process has given up the rights to start programs, to reach other machines, and to write
    anywhere but in whocall's caches; its memory and its time are limited. If a file makes it crash,
    the command says so, gdb goes on, and the next command starts another process. It starts with
    the first command and ends with gdb. gdb itself reads the programs that it debugs and, when this
    is off, all files.""",
        "Reading cores in a process of its own is {}.".format,
    ),
}


class _SetPrefix(gdb.Command):
    """Set a setting of whocall."""

    def __init__(self) -> None:
        super().__init__("set whocall", gdb.COMMAND_STACK, gdb.COMPLETE_NONE, True)

    def invoke(self, argument: str, from_tty: bool) -> None:
        """The prefix alone lists the settings, as gdb's own prefixes do."""
        _refuse("set whocall", argument)
        # Up to gdb 13 a prefix without invoke() prints nothing.
        said = console.said("help set whocall")
        write_text(said[said.index("List of") :])


class _ShowPrefix(gdb.Command):
    """Show the settings of whocall."""

    def __init__(self) -> None:
        super().__init__("show whocall", gdb.COMMAND_STACK, gdb.COMPLETE_NONE, True)

    def invoke(self, argument: str, from_tty: bool) -> None:
        """The prefix alone shows all settings, as gdb's own prefixes do."""
        _refuse("show whocall", argument)
        for name in sorted(_ROWS):
            shown = console.said("show whocall", word(name))
            write_text(f"whocall {name}:  {shown}")


def _refuse(prefix: str, argument: str) -> None:
    """Raises gdb's own error for a word behind a prefix that is none of its settings."""
    if argument.strip():
        word = argument.split()[0]
        raise refusal(f'Undefined {prefix} command: "{word}".  Try "help {prefix}".')


def register() -> None:
    """Adds the settings."""
    _SetPrefix()
    _ShowPrefix()
    on_change("without", _known_strategies)
    for name, row in _ROWS.items():
        _Setting(name, row)
