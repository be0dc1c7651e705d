"""What a process that reads files of strangers may take: the kernel ends it, or refuses it memory,
before the machine has none left for others.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

LEAST_MEMORY = 2 << 30  # bytes of a worker
LARGEST_STACK = 64 << 20  # bytes: where it has no end, memory would be it
PROCESSOR_TIME = 600  # seconds of one command
GDB_TIME = 60  # seconds of the processor for a gdb that we ask

_PAGE = os.sysconf("SC_PAGE_SIZE")


def memory_for(jobs: int) -> int:
    """Bytes that one of so many workers may take: all of them what the machine has."""
    return max(os.sysconf("SC_PHYS_PAGES") * _PAGE // jobs, LEAST_MEMORY)


def limit_memory(most: int) -> None:
    """Bytes. What counts is what is the process's own: cores are mapped, and may be larger than the
    machine.
    """
    import resource

    _lower(resource.RLIMIT_DATA, most)


def limit_stack() -> None:
    """A recursion ends at some depth."""
    import resource

    _lower(resource.RLIMIT_STACK, LARGEST_STACK)


def limit_files(most: int) -> None:
    """Bytes of each file that is written."""
    import resource

    _lower(resource.RLIMIT_FSIZE, most)


def limit_time(seconds: int = PROCESSOR_TIME) -> None:
    """Of the processor, from now on."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    wanted = int(used.ru_utime + used.ru_stime) + seconds
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (wanted, hard))


def limit_time_of(pid: int, seconds: int) -> None:
    """Of a child that has just begun: SIGXCPU ends it, and it leaves no core. Limits of ours that
    are lower are its own.
    """
    import resource

    limits = [limit for limit in resource.getrlimit(resource.RLIMIT_CPU) if limit >= 0]
    wanted = [min([each, *limits]) for each in (seconds, seconds + 1)]
    with suppress(OSError):  # it has ended
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
        resource.prlimit(pid, resource.RLIMIT_CPU, (wanted[0], wanted[1]))


def memory_now() -> int:
    """Bytes that count already: a copy of another process has that one's."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[5]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


def go_first_when_memory_is_short() -> None:
    """The kernel is to end this process, and not the one that it works for."""
    try:
        Path("/proc/self/oom_score_adj").write_text("1000")
    except OSError:
        pass  # it chooses by size then


def _lower(which: int, most: int) -> None:
    """The limit that is in force stays where it is lower."""
    import resource

    soft, hard = resource.getrlimit(which)
    limits = [limit for limit in (soft, hard, most) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(which, (min(limits), hard))
