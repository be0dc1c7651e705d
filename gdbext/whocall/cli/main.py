"""The command line outside gdb: what is run, and the exit statuses.

0: done; 1: an error, one sentence on stderr; 2: wrong usage; 130: interrupted.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Sequence

from whocall.cli.parsing import OWN_MODULES, parse_command, whole_parser
from whocall.cli.progress import leave, watch
from whocall.core.errors import Error, MemoryShortError, NativeMissingError, UsageError
from whocall.core.long_work import left_out


def _start_gdb(arguments: list[str]) -> int:
    """Becomes gdb, with the extension loaded before anything that `arguments` ask for."""
    from whocall.core import loader
    from whocall.core.extras import GDB

    gdb = os.environ.get("GDB", "gdb")
    try:
        os.execvp(gdb, [gdb, "-ex", f"source {loader.script_path()}", *arguments])
    except OSError as error:
        raise Error(f"cannot start {gdb}: {error.strerror}; install {GDB.package}") from error


def _run(argv: Sequence[str]) -> int:
    if argv[:1] == ["gdb"]:  # everything behind it is gdb's, options too
        return _start_gdb(list(argv[1:]))
    arguments = parse_command(argv)
    if arguments is not None:
        watch(arguments)
    if arguments is not None and argv[0] == "bt":
        from whocall.cli.backtrace import backtrace

        return backtrace(arguments)
    if arguments is not None and argv[0] in OWN_MODULES:
        from importlib import import_module

        status: int = import_module(OWN_MODULES[argv[0]][1]).run(arguments)
        return status
    if arguments is not None:
        from whocall.cli.commands import COMMANDS

        return COMMANDS[argv[0]](arguments)
    parser = whole_parser()
    if parser.parse_args(argv).script_path:
        from whocall.core import loader

        print(loader.script_path())
        return 0
    parser.print_usage(sys.stderr)
    raise UsageError("name a command first: whocall --help lists them")


def _advice(missing: NativeMissingError, argv: Sequence[str]) -> Error:
    """The complaint with the command that another Python of this machine can do, if there is one.

    What a build makes is for the Python inside gdb: it may never fit the one that runs this.
    """
    import shlex

    from whocall.core import loader
    from whocall.frontend import pythons

    other = pythons.find(loader.look().others)
    if other is None:
        return missing
    return Error(f"{missing.complaint}; run instead: {shlex.join(other.command(argv))}")


def _complain(error: Error) -> None:
    sys.stdout.flush()
    print(f"whocall: {' '.join(str(error).split())}", file=sys.stderr)


def _tell_left_out() -> None:
    for sentence in left_out():
        print(f"warning: {sentence}", file=sys.stderr)


def _write_any_name() -> None:
    """File names need not be UTF-8, nor the terminal: writing one must not fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            utf8 = codecs.lookup(stream.encoding).name == "utf-8"
            stream.reconfigure(errors="surrogateescape" if utf8 else "backslashreplace")


def _obey_nothing() -> None:
    """Of a name nothing but its characters comes to a terminal."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and stream.isatty():
            from whocall.cli.terminal import Terminal

            setattr(sys, name, Terminal(stream))


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit status."""
    _write_any_name()
    _obey_nothing()
    try:
        status = _run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
        _tell_left_out()
        return status
    except UsageError as error:
        _complain(error)
        return 2
    except NativeMissingError as error:
        _complain(_advice(error, sys.argv[1:] if argv is None else argv))
        return 1
    except Error as error:
        _complain(error)
        _tell_left_out()
        return 1
    except MemoryError:
        _complain(MemoryShortError())
        return 1
    except BrokenPipeError:
        # The reader has had enough (`| head`). Python would complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    finally:
        leave()
