"""The commands as gdb knows them: names, help texts, completion. What does the work is
imported at the first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import gdb

from whocall.core.errors import Error, NativeMissingError, as_gdb_says
from whocall.frontend import options
from whocall.frontend.options import Syntax
from whocall.gdb.host.downloads import begin_command, silence


def _run_here_or_in_subprocess(home: str, argument: Any) -> Any:
    """Where this Python cannot load the native module another one may do the work."""
    try:
        return import_module(home).run(argument)
    except NativeMissingError as missing:
        from whocall.gdb.commands.subprocess_commands import run_command

        return run_command(home.rpartition(".")[2], argument, missing)


def run(home: str, argument: Any) -> Any:
    """Calls `run(argument)` of the module `home`; its errors become gdb's, in one sentence.

    KeyboardInterrupt, which the pager's `q` raises too, passes through.
    """
    begin_command()
    try:
        return _run_here_or_in_subprocess(home, argument)
    except Error as error:
        raise gdb.GdbError(as_gdb_says(str(error))) from error
    except gdb.error as error:
        raise gdb.GdbError(str(error)) from error
    except UnicodeDecodeError as error:  # gdb gives names of files to Python as UTF-8 only
        raise gdb.GdbError(
            "A file of the process has a name that is not UTF-8, which gdb cannot give to Python;"
            " rename the file, or run whocall outside gdb."
        ) from error


def help_of(summary: str, usage: str, syntax: Syntax | None, more: str = "") -> str:
    """A help text in gdb's form: a summary line, the usage, the options."""
    parts = [f"{summary}\nUsage: {usage}"]
    if syntax is not None and syntax.options:
        lines = ["Options:"]
        for option in syntax.options:
            value = f" {option.value}" if option.value else ""
            lines += [f"  -{option.name}{value}", f"    {option.help[0].upper()}{option.help[1:]}."]
        parts.append("\n".join(lines))
    if more:
        parts.append(more)
    return "\n\n".join(parts)


class _Command(gdb.Command):
    """A subcommand; `home` is the module whose run(line) does the work."""

    def __init__(self, name: str, home: str, syntax: Syntax | None, doc: str) -> None:
        self.__doc__ = doc
        self._home = f"whocall.gdb.commands.{home}"
        self._syntax = syntax
        if syntax is None:
            super().__init__(f"whocall {name}", gdb.COMMAND_STACK, gdb.COMPLETE_EXPRESSION)
        else:
            super().__init__(f"whocall {name}", gdb.COMMAND_STACK)

    def invoke(self, argument: str, from_tty: bool) -> None:
        """gdb calls this to run the command."""
        run(self._home, argument)


class _CompletingCommand(_Command):
    """A subcommand with options; having `complete` keeps gdb from completing by itself."""

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

        assert self._syntax is not None
        return options.from_word(self._syntax.complete(text, COMPLETERS), text, word)


class _FunctionsCommand(_CompletingCommand):
    """A subcommand with options and the name of a function."""

    def _completions(self, text: str, word: str) -> list[str] | int:
        from whocall.gdb.commands.completion import functions

        assert self._syntax is not None
        if text[-1:].strip() and self._syntax.wants_argument(text):
            return options.from_word(functions(text), text, word)
        return super()._completions(text, word)


class _ModulesCommand(_CompletingCommand):
    """A subcommand with options and modules."""

    def _completions(self, text: str, word: str) -> list[str] | int:
        from whocall.gdb.commands.completion import modules

        assert self._syntax is not None
        if not (text[-1:].strip() and self._syntax.wants_argument(text)):
            return super()._completions(text, word)
        start = text.split()[-1]
        return options.from_word([m for m in modules() if m.startswith(start)], text, word)


class _FileCommand(_CompletingCommand):
    """A subcommand with options and a FILE."""

    def complete(self, text: str, word: str | None) -> list[str] | int:
        """As above; an answer that is a number leaves the completion to gdb.

        gdb's own completer of file names takes all of the text for one, options too.
        """
        if not text.split(maxsplit=1)[1:] and not text.startswith("-") and not text[-1:].isspace():
            return gdb.COMPLETE_FILENAME
        return super().complete(text, word)

    def _completions(self, text: str, word: str) -> list[str] | int:
        assert self._syntax is not None
        if not self._syntax.wants_file(text):
            return super()._completions(text, word)
        from whocall.gdb.commands.completion import files

        return options.from_word(files("" if text[-1:].isspace() else text.split()[-1]), text, word)


class _Prefix(gdb.Command):
    def __init__(self, name: str, home: str, doc: str) -> None:
        self.__doc__ = doc
        self._name = name
        self._home = f"whocall.gdb.commands.{home}"
        super().__init__(name, gdb.COMMAND_STACK, gdb.COMPLETE_NONE, True)

    def invoke(self, argument: str, from_tty: bool) -> None:
        """The prefix alone, or with a word behind it that is no subcommand."""
        if argument.strip():
            word = argument.split()[0]
            raise gdb.GdbError(
                f'Undefined {self._name} command: "{word}".  Try "help {self._name}".'
            )
        run(self._home, "")


_MODULE_NOTE = "MODULE is the module's path or the last parts of it, such as libc.so.6."


def register() -> None:
    """Adds all commands."""
    _Prefix(
        "whocall",
        "caller",
        "Tell who called the selected frame, or use a subcommand for more.\n\n"
        "whocall finds the true backtrace of stripped programs: those without symbols and\n"
        "unwind tables. Alone it prints one line: the selected frame's function, who called\n"
        "it, from where, and how sure that is. Trust, best first: context, cfi, analysis,\n"
        "frame-pointer, scan.\n"
        "\n"
        '"layout whocall" shows the stack itself, word by word, in the text user\n'
        'interface; after "focus whocall" the arrow and page keys scroll it.',
    )
    _CompletingCommand(
        "bt",
        "backtrace",
        options.BACKTRACE,
        help_of(
            "Print the true backtrace of the selected thread.",
            "whocall bt [OPTION]... [COUNT | -COUNT]",
            options.BACKTRACE,
            "The word in brackets says how each frame was found, best first: context, cfi,\n"
            "analysis, frame-pointer, scan. sub_ADDRESS is a function of which only the start is\n"
            "known, at that link address.\n"
            "\n"
            "With COUNT print only the innermost COUNT frames, with -COUNT the outermost. Frames\n"
            "that called main are left out where a symbol tells which function is main; stripped\n"
            'programs show them, as do -past-main and "set backtrace past-main on". LIST names\n'
            "strategies, separated by commas; TAB lists them.\n"
            "\n"
            "Of a recursion without end the first cycle of functions and the last frames are\n"
            'shown; -no-fold, or "set whocall fold off", shows every frame. Where frames stand\n'
            "above one of trust scan, a last line counts them: they are no surer than that one.\n"
            "\n"
            "-explain, -full and -no-fold change the text form alone, and in JSON nothing is\n"
            "folded. For programs that speak GDB/MI the command -whocall-backtrace answers what\n"
            "-json prints.",
        ),
    )
    _CompletingCommand(
        "compare",
        "compare",
        options.COMPARE,
        help_of(
            "Print whocall's frames beside those of gdb's own backtrace.",
            "whocall compare [OPTION]...",
            options.COMPARE,
            f"{options.VERDICTS_EXPLAINED}\n"
            "\n"
            "Below stands why gdb went wrong where the two first part, and the counts: whocall's\n"
            "frames are same + unnamed + named + renamed + missing. Both chains are shown past\n"
            "main.",
        ),
    )
    _Command(
        "symbol",
        "symbol",
        None,
        help_of(
            "Print what stands at addresses: function, module, source line.",
            "whocall symbol EXPR...",
            None,
            'EXPR is any expression, such as $pc or 0x401136; quote one with blanks: "a + 1".',
        ),
    )
    _FunctionsCommand(
        "functions",
        "functions",
        options.FUNCTIONS,
        help_of(
            "List functions by address: start, end, source of the name, name.",
            "whocall functions [OPTION]... [REGEX]",
            options.FUNCTIONS,
            f"With REGEX list only functions whose names it matches (Python's syntax).\n"
            f"{_MODULE_NOTE}",
        ),
    )
    _CompletingCommand(
        "modules",
        "modules",
        options.MODULES,
        help_of(
            "List the loaded files, whether they are the right ones, and what they tell.",
            "whocall modules [OPTION]...",
            options.MODULES,
            "A line for each file: its addresses; found, missing, MISMATCH (the file there is of\n"
            "another build than the one in memory, by their build ids, and is not used) or in\n"
            "memory (no file, but its image was dumped); the share of its code that unwind tables\n"
            "cover; its named functions by the source of the names; its path, and the debug file\n"
            "that lends it names. Below a file that lacks something stands what to do about it.\n"
            "\n"
            'Files are looked for below "sysroot", at their own paths, in "whocall search-path"\n'
            'and "solib-search-path" by name and by build id, in "debug-file-directory" by build\n'
            'id, and last by debuginfod ("set whocall debuginfod"). This command fetches no debug\n'
            "info that no backtrace has asked for.",
        ),
    )
    _FileCommand(
        "audit",
        "audit",
        options.AUDIT,
        help_of(
            "Tell how far the analysis of instructions can be trusted on a file.",
            "whocall audit [OPTION]... [FILE]",
            options.AUDIT,
            "Wherever the file's own unwind tables cover an instruction, what whocall finds\n"
            "without them is held against them: the frame's address (CFA), the return address and\n"
            "the saved registers. Each difference has a class that says where it comes from.\n"
            "\n"
            "FILE is any ELF file with unwind tables. Without it, the module that the selected\n"
            "frame is in is audited, or, before the program runs, the program.",
        ),
    )
    _FileCommand(
        "signatures",
        "signatures",
        options.SIGNATURES,
        help_of(
            "Make a file of signatures of static libraries.",
            "whocall signatures ARCHIVE... -output FILE",
            options.SIGNATURES,
            'With "set whocall signature-files FILE" whocall recognises the functions of these\n'
            "libraries in stripped programs that were linked with them. Libraries that are linked\n"
            "together, such as libc.a, libm.a and libgcc_eh.a, belong into one file.",
        ),
    )
    _ModulesCommand(
        "repair",
        "repair",
        options.REPAIR,
        help_of(
            "Make gdb's own commands right: backtrace, up, finish, break, disassemble.",
            "whocall repair [OPTION]... [MODULE]...",
            options.REPAIR,
            "gdb is given the names of functions and the unwinding rules that whocall finds, for\n"
            "the files in which frames of any thread lie, and for each MODULE. From then on this\n"
            "is kept up whenever the program stops. Before a program runs it is for the program's\n"
            'file, or for each MODULE. "whocall revert" takes it back.\n'
            f"{_MODULE_NOTE}",
        ),
    )
    _CompletingCommand(
        "revert",
        "revert",
        options.REVERT,
        help_of(
            'Take back what "whocall repair" told gdb.',
            "whocall revert",
            options.REVERT,
            "gdb reads the files concerned anew. Breakpoints stay; those at names that only\n"
            "whocall knows, such as sub_1139, are pending until gdb knows the names again.",
        ),
    )
    _FileCommand(
        "export",
        "export",
        options.EXPORT,
        help_of(
            "Save names and unwinding rules of a file for gdbs without whocall.",
            "whocall export [OPTION]... FILE",
            options.EXPORT,
            'FILE becomes what "whocall repair" gives to gdb, with the rules of all functions.\n'
            "Without -module it is that of the program.\n"
            f"{_MODULE_NOTE}",
        ),
    )
    _CompletingCommand(
        "doctor",
        "doctor",
        options.DOCTOR,
        help_of(
            "Report versions, what of whocall is missing, and the command that mends it.",
            "whocall doctor",
            options.DOCTOR,
        ),
    )
