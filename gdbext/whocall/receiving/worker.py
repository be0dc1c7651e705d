"""Looks at one process that has crashed: in a process of its own, with that one's user's rights.

It tells how it went in a line of JSON, and is ended then; the files that it fills get their names
by whom it works for, who believes nothing but the form of what it says: it has read a stranger's
memory.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Sequence

from whocall.base import limits
from whocall.base.errors import Error
from whocall.base.file_search import Search
from whocall.base.forked import fork_aside, outcome
from whocall.base.native_module import native
from whocall.base.process_image import ProcessImage, open_process
from whocall.base.records import dataclass
from whocall.base.sandbox import confine
from whocall.receiving.greetings import Greeting, get_leave, is_waiting, record_of
from whocall.receiving.told import heading, headline, name_of, record_in, told_crash

SECONDS = 60  # that one report may take, of the processor and by the clock
MOST_SAID = 4096  # bytes of JSON, which a pipe takes whole
_LONGEST = 255  # bytes of a text in it

Writer = Callable[[ProcessImage, Sequence[str]], None]
"""Writes what is wanted of a crash; with the lines above its frames."""


@dataclass(frozen=True)
class Work:
    """What is the same for all crashes."""

    write: Writer
    search: Search
    caches: Sequence[str]  # folders that it may write in
    jobs: int  # that there are at the same time
    most: int  # bytes of a file


def begin(greeting: Greeting, work: Work, closes: Callable[[], None]) -> tuple[int, int]:
    """Starts the process; `closes` gives up there what is the parent's. Returns its number and a
    file that tells how it went.
    """
    here, there = os.pipe()
    parent = os.getpid()

    def working() -> None:
        os.close(here)
        closes()
        told = {name: _cut(text) for name, text in _told(greeting, work, parent).items()}
        os.write(there, json.dumps(told, ensure_ascii=False).encode(errors="surrogateescape"))

    try:
        return fork_aside(working), here
    finally:
        os.close(there)


def _cut(text: str) -> str:
    return os.fsdecode(os.fsencode(text)[:_LONGEST])


def _told(greeting: Greeting, work: Work, parent: int) -> dict[str, str]:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    return outcome(lambda: _examine_confined(greeting, work, parent))


def _examine_confined(greeting: Greeting, work: Work, parent: int) -> dict[str, str]:
    _take_rights_of(greeting)
    if not native.end_with_parent(parent):  # a change of rights makes the kernel forget that
        raise Error("nobody wants it any more")
    limits.limit_memory(limits.memory_now() + limits.memory_for(work.jobs + 1))
    limits.limit_stack()
    limits.limit_time(SECONDS)
    limits.limit_files(work.most)
    confine([each for each in work.caches if os.access(each, os.W_OK)], processes=True)
    return _examine(greeting, work)


def _take_rights_of(greeting: Greeting) -> None:
    """What the process's user may not read, its crash does not show either."""
    if os.geteuid() == 0 and greeting.user != 0:
        os.setgroups([])
        os.setresgid(greeting.group, greeting.group, greeting.group)
        os.setresuid(greeting.user, greeting.user, greeting.user)


def _examine(greeting: Greeting, work: Work) -> dict[str, str]:
    record = record_in(record_of(greeting))
    get_leave(greeting)
    crash = told_crash(record, greeting.process)
    with open_process(greeting.process, search=work.search, crash=crash) as image:
        if not is_waiting(greeting):
            raise Error("it has ended")
        work.write(image, list(heading(record, greeting.process)))
    return {"headline": headline(record, greeting.process), "program": name_of(record)}
