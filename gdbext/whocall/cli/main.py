"""The command line outside gdb: what is run, and the exit statuses.

0: done; 1: an error, one sentence on stderr; 2: wrong usage; 130: interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from whocall.base.cut_files import whole_files
from whocall.base.errors import Error, MemoryShortError, NativeMissingError, UsageError
from whocall.base.interrupts import interrupt_prevails
from whocall.base.long_work import left_out
from whocall.cli import sandbox
from whocall.cli.inputs import put_in_order
from whocall.cli.outputs import complain, say, take_dash, warn, write
from whocall.cli.parsing import no_such_command, parse_command, whole_parser
from whocall.cli.progress import leave, watch
from whocall.cli.streams import OutputError, let_go, prepare
from whocall.cli.wrapped_stream import innermost
from whocall.commands import module_name, passes_on

TYPE_CHECKING = False

if TYPE_CHECKING:
    from signal import SIG_DFL, SIG_IGN, SIGINT, default_int_handler, getsignal, signal
    from typing import Any
else:  # the module in Python's own words takes longer to load than a short stack to be found
    from _signal import SIG_DFL, SIG_IGN, SIGINT, default_int_handler, getsignal, signal

_INTERRUPTED = 130


def _does(command: str) -> Callable[[Any], int]:
    """What the command does with its arguments, or with the words that it passes on."""
    run: Callable[[Any], int]
    run = import_module(f"whocall.cli.commands.{module_name(command)}").run
    return run


def _run(argv: Sequence[str], confined: bool) -> int:
    arguments = parse_command(argv)
    if arguments is not None:
        put_in_order(arguments)
        take_dash(arguments)
        watch(arguments)
        if confined:
            sandbox.begin(argv[0], arguments)
        return _does(argv[0])(arguments)
    if argv and passes_on(argv[0]):
        return _does(argv[0])(argv[1:])
    if argv and not argv[0].startswith("-"):
        raise UsageError(no_such_command(argv[0]))
    parser = whole_parser()
    if parser.parse_args(argv).script_path:
        from whocall.base import loader

        write([str(loader.script_path())])
        return 0
    raise UsageError('name a command first: "whocall --help" lists them')


def _advice(missing: NativeMissingError, argv: Sequence[str]) -> Error:
    """The complaint with the command that another Python of this machine can do, if there is one.

    What a build makes is for the Python inside gdb: it may never fit the one that runs this.
    """
    import shlex

    from whocall.base import loader
    from whocall.shared_front_end import pythons

    other = pythons.find(loader.look().others)
    if other is None:
        return missing
    return Error(f"{missing.complaint}; run instead: {shlex.join(other.command(argv))}")


def _leave_streams() -> None:
    """As they were: who calls main() has them back."""
    for name in ("stdout", "stderr"):
        setattr(sys, name, innermost(getattr(sys, name)))


def _complain(error: Error) -> int:
    """Returns the exit status."""
    if isinstance(error, OutputError):
        say(f"whocall: {error}")
        let_go()
    else:
        complain(f"{error}{sandbox.remark(error)}")
    return 2 if isinstance(error, UsageError) else 1


def _of_the_system(error: OSError) -> Error:
    """Of what nobody has said anything better about."""
    what = os.fsdecode(error.filename) + ": " if isinstance(error.filename, (str, bytes)) else ""
    return Error(f"{what}{error.strerror or error}{sandbox.remark(error)}")


def _run_and_warn(argv: Sequence[str], confined: bool) -> int:
    try:
        with whole_files(afresh=True):
            return _run(argv, confined)
    finally:
        sys.stdout.flush()
        warn(left_out())


def _end(argv: Sequence[str], confined: bool) -> int:
    """Runs the command, and complains where it cannot do what it should."""
    try:
        with interrupt_prevails():
            return _run_and_warn(argv, confined)
    except BrokenPipeError:
        raise
    except NativeMissingError as error:
        return _complain(_advice(error, argv))
    except Error as error:
        return _complain(error)
    except MemoryError:
        pass  # what was taken is given back before anything is said
    except OSError as error:
        return _complain(_of_the_system(error))
    return _complain(MemoryShortError())


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit status. A process that is there for this alone
    (without `argv`) gives up what the command has no use for: see sandbox.py.
    """
    if argv is not None:
        return _in_order(argv, confined=False)
    if getsignal(SIGINT) == SIG_DFL:  # from here on there is something to end
        signal(SIGINT, default_int_handler)
    try:
        return _in_order(sys.argv[1:], confined=True)
    except KeyboardInterrupt:
        return _INTERRUPTED
    finally:
        signal(SIGINT, SIG_IGN)  # what is left takes a moment


def _in_order(argv: Sequence[str], confined: bool) -> int:
    prepare()
    try:
        try:
            return _end(argv, confined)
        except OutputError as error:  # of what was left when something else went wrong
            return _complain(error)
    except BrokenPipeError:
        let_go()  # the reader has had enough (`| head`)
        return 0
    except KeyboardInterrupt:
        return _INTERRUPTED
    finally:
        leave()
        _leave_streams()
        sandbox.end()
