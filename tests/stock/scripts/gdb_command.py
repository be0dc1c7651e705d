"""Sourced by a stock gdb: commands that announce it, and that sleep deep within each other."""

import os

import gdb


def announce() -> None:
    os.write(int(os.environ["STOCK_READY_FD"]), b"%d\n" % os.getpid())


class Announce(gdb.Command):
    """Announce; the prompt comes next."""

    def __init__(self) -> None:
        super().__init__("announce", gdb.COMMAND_USER)

    def invoke(self, argument: str, from_tty: bool) -> None:
        announce()


class Descend(gdb.Command):
    """descend DEPTH: this command within itself, and at the bottom a function in an expression."""

    def __init__(self) -> None:
        super().__init__("descend", gdb.COMMAND_USER)

    def invoke(self, argument: str, from_tty: bool) -> None:
        depth = int(argument)
        gdb.execute(f"descend {depth - 1}" if depth else "print $sleep_for_input()")


class SleepForInput(gdb.Function):
    """Announce, and read what nobody writes."""

    def __init__(self) -> None:
        super().__init__("sleep_for_input")

    def invoke(self) -> int:
        announce()
        return len(os.read(0, 1))


Announce()
Descend()
SleepForInput()
