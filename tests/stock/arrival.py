"""The ways to know that a program is in place: it announced itself, it is blocked, or it has
computed for a while.
"""

from __future__ import annotations

from stock import procfs
from stock.program import Arrival, Launched

READ, WRITE, POLL = 0, 1, 7
"""Numbers of the x86-64 system calls."""


def announced_waiting(number: int, threads: int) -> Arrival:
    """The script wrote its process id to the ready pipe; then its main thread sleeps in system call
    `number`, and all `threads` of it sleep.
    """

    def arrived(launched: Launched) -> int:
        pid = launched.read_ready_pid()

        def reached() -> bool:
            tids = procfs.thread_ids(pid)
            waits = procfs.is_in_call(pid, pid, number)
            return waits and len(tids) == threads and all(procfs.is_asleep(pid, it) for it in tids)

        launched.wait_for(reached, f"asleep in {threads} threads")
        return pid

    return arrived


def _read_byte(launched: Launched) -> int:
    """Wait for the byte that a program writes to standard output when it is in place."""
    if launched.process.stdout is None or launched.process.stdout.read(1) != b"!":
        raise procfs.NotReachedError(f"{launched.process.args!r} did not come in place")
    return launched.process.pid


def byte_written() -> Arrival:
    """The program wrote one byte to standard output; then each of its threads fell asleep."""

    def arrived(launched: Launched) -> int:
        pid = _read_byte(launched)
        launched.wait_for(
            lambda: all(procfs.is_asleep(pid, tid) for tid in procfs.thread_ids(pid)), "all asleep"
        )
        return pid

    return arrived


def byte_written_and_computing(seconds: float) -> Arrival:
    """The program wrote one byte to standard output; then it used `seconds` of CPU time more."""

    def arrived(launched: Launched) -> int:
        pid = _read_byte(launched)
        enough = procfs.cpu_seconds(pid) + seconds
        launched.wait_for(lambda: procfs.cpu_seconds(pid) >= enough, f"computing for {seconds} s")
        return pid

    return arrived


def announced(readers: int = 1) -> Arrival:
    """The script wrote its process id to the ready pipe; then `readers` threads blocked reading
    standard input.

    The announcement comes before the read, and a thread may still sleep for another reason (an
    interpreter's lock), so the system call is asked for too. All other threads must be asleep as
    well.
    """

    def arrived(launched: Launched) -> int:
        pid = launched.read_ready_pid()

        def reached() -> bool:
            tids = procfs.thread_ids(pid)
            blocked = [tid for tid in tids if procfs.is_blocked(pid, tid, READ, 0)]
            return len(blocked) >= readers and all(procfs.is_asleep(pid, tid) for tid in tids)

        procfs.wait_for(reached, f"{launched.process.args!r} blocked in {readers} threads")
        return pid

    return arrived


def blocked_in(number: int, descriptor: int) -> Arrival:
    """The program sleeps in system call `number` on `descriptor`, a pipe that we neither feed nor
    drain.
    """

    def reached(launched: Launched) -> bool:
        pid = launched.process.pid
        return procfs.is_blocked(pid, pid, number, descriptor)

    def arrived(launched: Launched) -> int:
        launched.wait_for(lambda: reached(launched), f"blocked in system call {number}")
        return launched.process.pid

    return arrived


def computing(seconds: float) -> Arrival:
    """The program is running and has used `seconds` of CPU time: it is stopped wherever it happens
    to be.
    """

    def arrived(launched: Launched) -> int:
        pid = launched.process.pid
        launched.wait_for(lambda: procfs.cpu_seconds(pid) >= seconds, f"computing for {seconds} s")
        return pid

    return arrived
