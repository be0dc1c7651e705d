"""The helper's own side: it gives up what it has no use for, and answers until gdb asks no more."""

from __future__ import annotations

import gc
import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whocall.base import limits
from whocall.base.cut_files import whole_files
from whocall.base.errors import Error, UsageError
from whocall.base.interrupts import interrupt_prevails
from whocall.base.long_work import Lines, left_out, tell_long_work
from whocall.base.sandbox import confine
from whocall.gdb_helper import channel
from whocall.gdb_helper.channel import Channel, ChannelEndError
from whocall.gdb_helper.current import ThreadsWantedError
from whocall.gdb_helper.output import Sender, encoded
from whocall.gdb_helper.table import of_files, of_process

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whocall.base.records import dataclass
    from whocall.gdb_helper.cores import Cores
    from whocall.report.form.jsonform import Json
else:
    from whocall.base.records import dataclass

_CAUGHT = (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP)
_OF_A_TERMINAL = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGCHLD)


@dataclass(frozen=True)
class Terms:
    """What a helper keeps."""

    writable: Sequence[str]  # folders
    network: bool
    descriptors: Sequence[int]  # of gdb's: of cores that have no name
    memory: int  # bytes, beside what gdb has already
    seconds: int  # of the processor, for one answer


def keep_only(descriptors: Sequence[int], errors: int) -> None:
    """Of a copy of gdb: its files, its streams and its signals are no matter of ours."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream, other in ((0, nowhere), (1, nowhere), (2, errors)):
        os.dup2(other, stream)
    kept = {0, 1, 2, *descriptors}
    begin = 3
    for descriptor in [*sorted(kept - {0, 1, 2}), _most()]:
        os.closerange(begin, descriptor)
        begin = descriptor + 1
    for number in (*_CAUGHT, *_OF_A_TERMINAL):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _most() -> int:
    """Beyond all numbers of open files."""
    return max((int(each.name) for each in Path("/proc/self/fd").iterdir()), default=2) + 1


def work(line: Channel, errors: int, gdb: int, terms: Terms) -> None:
    """To be called in a copy of the process `gdb`; returns when gdb asks no more."""
    from whocall.base.native_module import native

    if not native.end_with_parent(gdb):
        return
    gc.freeze()  # looking through gdb's objects would copy the pages of all of them
    os.setsid()  # Ctrl-C at the terminal is gdb's, which passes it on
    keep_only([*line.descriptors, *terms.descriptors], errors)
    limits.go_first_when_memory_is_short()
    limits.limit_memory(limits.memory_now() + terms.memory)
    limits.limit_stack()
    confine(terms.writable, network=terms.network)
    from whocall.gdb_helper.cores import Cores

    cores = Cores(gdb)
    try:
        while True:
            _, question = line.hear({channel.QUESTION})
            limits.limit_time(terms.seconds)
            line.say(*_answered(cores, Sender(line), json.loads(question)))
    except ChannelEndError:
        cores.close()


def _answered(cores: Cores, out: Sender, question: Json) -> tuple[bytes, bytes]:
    """The message that ends the answer."""
    tell_long_work(Lines(out.say))
    try:
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            with interrupt_prevails(), whole_files():
                found = _found(cores, out, question)
            return channel.DONE, json.dumps(found).encode()
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            out.warn(left_out())
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return channel.INTERRUPTED, b""
    except ThreadsWantedError:
        return channel.WANTS_THREADS, b""
    except UsageError as error:
        return channel.MISUSED, encoded(str(error))
    except Error as error:
        return channel.REFUSED, encoded(str(error))
    except MemoryError:
        return channel.SHORT_OF_MEMORY, b""
    except ChannelEndError:
        raise
    except OSError as error:
        name = f"{os.fsdecode(error.filename)}: " if error.filename else ""
        return channel.REFUSED, encoded(f"{name}{error.strerror or error}")
    except Exception as error:  # a fault of ours is told as well
        return channel.REFUSED, encoded(f"whocall failed: {type(error).__name__}: {error}")


def _found(cores: Cores, out: Sender, question: Json) -> Any:
    from whocall.gdb_helper.cores import search_from

    _go_to(question["folder"])
    name, wanted = question["name"], question["wanted"]
    progress = out.fetched if question["search"]["debuginfod"] else None
    search = search_from(question["search"], progress)
    if "core" not in question:
        return of_files(name)(search, out, wanted)
    now = cores.current(question, search)
    return of_process(name)(now, out, {**wanted, "search": search})


def _go_to(folder: str) -> None:
    """Where gdb is: what the user names may stand there."""
    try:
        os.chdir(folder)
    except OSError:
        pass  # it is gone; so is what was named there
