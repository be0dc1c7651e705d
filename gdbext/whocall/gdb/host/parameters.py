"""The settings: `set whocall ...` and `show whocall ...`.

What gdb has a setting for is gdb's: `set print demangle`, `set style ...`, `set backtrace
past-main`, `set sysroot`, `set solib-search-path`, `set debug-file-directory`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gdb

from whocall.core.errors import Error, NativeMissingError
from whocall.core.gdb_lines import word
from whocall.frontend.options import split_list
from whocall.gdb.host import console
from whocall.gdb.host.output import refusal, write_text
from whocall.gdb.host.settings import asks_debuginfod, paths_in

_listeners: dict[str, list[Callable[[Any], None]]] = {}  # by the setting's name


def on_change(name: str, listener: Callable[[Any], None]) -> None:
    """Has `listener` called with each new value of the setting. An Error keeps auto-repair off.

    So the settings need not know whom they concern.
    """
    _listeners.setdefault(name, []).append(listener)


def _announce(name: str, value: Any) -> None:
    for listener in _listeners.get(name, ()):
        listener(value)


class _Setting(gdb.Parameter):
    """A setting that takes every value without a word."""

    def get_set_string(self) -> str:
        """Says nothing, as gdb does."""
        return ""


class _SearchPath(_Setting):
    """Directories in which whocall looks for files, separated by colons.

    They are searched by file name and by build id for programs and libraries that are not at the
    places where the process had them, or are of another build. gdb's own solib-search-path,
    sysroot and debug-file-directory are searched as well."""

    set_doc = "Set the directories in which whocall looks for files."
    show_doc = "Show the directories in which whocall looks for files."

    def __init__(self) -> None:
        super().__init__("whocall search-path", gdb.COMMAND_STACK, gdb.PARAM_OPTIONAL_FILENAME)
        self.value = ""

    def get_show_string(self, value: str) -> str:
        """gdb prints this for `show`."""
        return f'The directories in which whocall looks for files are "{value}".'


class _SymbolFiles(gdb.Parameter):
    """Files with names of functions, separated by colons: [MODULE=]FILE[@BASE].

    FILE is a linker map, what nm, "objdump -t" or "readelf -sW" prints, a Breakpad .sym file, or
    CSV or JSON with names and addresses, as decompilers export them. MODULE is the end of the path
    of the file that it is for; without it that is told by FILE's build id or its name, else it is
    the program. BASE (hexadecimal) is what FILE adds to the addresses in the module's file: 100000
    for a position-independent program in Ghidra. Setting the list reads its files anew."""

    set_doc = "Set the files with names of functions."
    show_doc = "Show the files with names of functions."

    def __init__(self) -> None:
        super().__init__("whocall symbol-files", gdb.COMMAND_STACK, gdb.PARAM_OPTIONAL_FILENAME)
        self.value = ""

    def get_set_string(self) -> str:
        """Says nothing, as gdb does."""
        _announce("symbol-files", self.value)
        return ""

    def get_show_string(self, value: str) -> str:
        """gdb prints this for `show`."""
        return f'The files with names of functions are "{value}".'


class _SignatureFiles(gdb.Parameter):
    """Files that "whocall signatures" has made of static libraries, separated by colons.

    By them whocall recognises the functions of these libraries in stripped programs that were
    linked with them. Names that come from there end in a question mark."""

    set_doc = "Set the files by which whocall recognises functions of static libraries."
    show_doc = "Show the files by which whocall recognises functions of static libraries."

    def __init__(self) -> None:
        super().__init__("whocall signature-files", gdb.COMMAND_STACK, gdb.PARAM_OPTIONAL_FILENAME)
        self.value = ""
        self._good = ""

    def get_set_string(self) -> str:
        """Refuses files that cannot be used, and keeps the last good list then."""
        try:
            if self.value:
                from whocall.core.signatures import require_readable

                require_readable(paths_in(self.value))
        except NativeMissingError:
            pass  # whoever is to use the files will see
        except Error as error:
            self.value = self._good
            raise refusal(error) from error
        self._good = self.value
        _announce("signature-files", self.value)
        return ""

    def get_show_string(self, value: str) -> str:
        """gdb prints this for `show`."""
        return f'The files by which whocall recognises functions of static libraries are "{value}".'


class _MaxFrames(_Setting):
    """The most frames of one thread that whocall looks for.

    0 and unlimited mean about a million."""

    set_doc = "Set the most frames of one thread that whocall looks for."
    show_doc = "Show the most frames of one thread that whocall looks for."

    def __init__(self) -> None:
        super().__init__("whocall max-frames", gdb.COMMAND_STACK, gdb.PARAM_UINTEGER)
        self.value = None

    def get_show_string(self, value: str) -> str:
        """gdb prints this for `show`."""
        return f"The most frames of one thread that whocall looks for is {value}."


class _Without(gdb.Parameter):
    """Strategies that whocall does not use, separated by commas, such as cfi,frame-pointer.

    An empty list switches all of them on. "whocall bt -without" adds to it for one command."""

    set_doc = "Set the strategies that whocall does not use."
    show_doc = "Show the strategies that whocall does not use."

    def __init__(self) -> None:
        super().__init__("whocall without", gdb.COMMAND_STACK, gdb.PARAM_STRING)
        self.value = ""
        self._good = ""

    def get_set_string(self) -> str:
        """Refuses unknown names, and keeps the last good list then."""
        try:
            from whocall.core.engine import native

            native.WalkOptions(without=split_list(self.value))
        except NativeMissingError:
            pass  # whoever is to do without them will see
        except (Error, ValueError) as error:
            self.value = self._good
            raise refusal(error) from error
        self._good = self.value
        return ""

    def get_show_string(self, value: str) -> str:
        """gdb prints this for `show`."""
        if not split_list(value):
            return "whocall uses all strategies."
        return f"The strategies that whocall does not use are {', '.join(split_list(value))}."


class _Fold(_Setting):
    """Whether "whocall bt" tells of frames that repeat in a line.

    Of an endless recursion it shows the first cycle of functions and the last frames. "whocall bt
    -no-fold" shows every frame for once."""

    set_doc = 'Set whether "whocall bt" tells of frames that repeat in a line.'
    show_doc = 'Show whether "whocall bt" tells of frames that repeat in a line.'

    def __init__(self) -> None:
        super().__init__("whocall fold", gdb.COMMAND_STACK, gdb.PARAM_BOOLEAN)
        self.value = True

    def get_show_string(self, value: str) -> str:
        """gdb prints this for `show`."""
        return f"Telling of frames that repeat in a line is {value}."


class _Helper(_Setting):
    """Whether a process of its own reads cores and their files for whocall.

    That process has given up to start programs, to reach anybody, and to write but in whocall's
    caches; its memory and its time are limited. A file that makes it end by a fault ends nothing
    else: the command says so, and the next one starts another process. It begins with the first
    command and ends with gdb. Programs that gdb debugs are read in gdb itself, as are the files of
    all commands when this is off."""

    set_doc = "Set whether a process of its own reads cores for whocall."
    show_doc = "Show whether a process of its own reads cores for whocall."

    def __init__(self) -> None:
        super().__init__("whocall helper", gdb.COMMAND_STACK, gdb.PARAM_BOOLEAN)
        self.value = True

    def get_show_string(self, value: str) -> str:
        """gdb prints this for `show`."""
        return f"Reading cores in a process of its own is {value}."


class _Debuginfod(_Setting):
    """Whether whocall asks debuginfod servers for files and debug info that are missing.

    auto, the default, asks them when gdb's own "debuginfod enabled" is on; whocall does not ask
    you, so that "ask" counts as off. The servers are those of "set debuginfod urls", which begins
    as the environment variable DEBUGINFOD_URLS. Debug info is fetched for modules in which frames
    lie, and files of modules that are missing."""

    set_doc = "Set whether whocall asks debuginfod servers for what is missing."
    show_doc = "Show whether whocall asks debuginfod servers for what is missing."

    def __init__(self) -> None:
        super().__init__(
            "whocall debuginfod", gdb.COMMAND_STACK, gdb.PARAM_ENUM, ("auto", "on", "off")
        )
        self.value = "auto"

    def get_show_string(self, value: str) -> str:
        """gdb prints this for `show`."""
        now = f" (currently {'on' if asks_debuginfod() else 'off'})" if value == "auto" else ""
        return f'Asking debuginfod servers for what is missing is "{value}"{now}.'


class _AutoRepair(gdb.Parameter):
    """Whether whocall repairs gdb by itself, as "whocall repair" does.

    When it is on, gdb is given names and unwinding rules for the files that it loads, and its
    stacks are made right whenever the program stops. "whocall revert" takes that back and switches
    it off."""

    set_doc = "Set whether whocall repairs gdb's own commands by itself."
    show_doc = "Show whether whocall repairs gdb's own commands by itself."

    def __init__(self) -> None:
        super().__init__("whocall auto-repair", gdb.COMMAND_STACK, gdb.PARAM_BOOLEAN)
        self.value = False

    def get_set_string(self) -> str:
        """Begins or ends; stays off where that fails."""
        try:
            _announce("auto-repair", self.value)
        except Error as error:
            self.value = False
            raise refusal(error) from error
        return ""

    def get_show_string(self, value: str) -> str:
        """gdb prints this for `show`."""
        return f"Repairing gdb's own commands by itself is {value}."


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
        for name in sorted(_NAMES):
            shown = console.said("show whocall", word(name))
            write_text(f"whocall {name}:  {shown}")


def _refuse(prefix: str, argument: str) -> None:
    """Raises gdb's own error for a word behind a prefix that is none of its settings."""
    if argument.strip():
        word = argument.split()[0]
        raise refusal(f'Undefined {prefix} command: "{word}".  Try "help {prefix}".')


_NAMES = {
    "auto-repair": _AutoRepair,
    "search-path": _SearchPath,
    "symbol-files": _SymbolFiles,
    "signature-files": _SignatureFiles,
    "max-frames": _MaxFrames,
    "without": _Without,
    "fold": _Fold,
    "debuginfod": _Debuginfod,
    "helper": _Helper,
}


def register() -> None:
    """Adds the settings."""
    _SetPrefix()
    _ShowPrefix()
    for setting in _NAMES.values():
        setting()
