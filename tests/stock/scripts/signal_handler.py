"""Runs inside the stock interpreter: a true signal handler (not Python's deferred one) in the
middle of the stack.

With `sigaction` reached through ctypes the kernel itself calls the Python function, so the stack
holds a trampoline. `kill` interrupts the main program in a system call; `alarm` in the middle of a
multiplication, at any instruction. `alternate` does the same with the handler on its own stack, far
from the interrupted one.
"""

import ctypes
import os
import signal
import sys

LIBC = ctypes.CDLL(None)
HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_int)
SA_ONSTACK = 0x08000000
STACK_BYTES = 1 << 20


class Action(ctypes.Structure):
    """struct sigaction of glibc on x86-64."""

    _fields_ = [
        ("handler", HANDLER),
        ("mask", ctypes.c_ulong * 16),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    ]


class Stack(ctypes.Structure):
    """stack_t."""

    _fields_ = [("base", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]


def block() -> int:
    os.write(int(os.environ["STOCK_READY_FD"]), b"%d\n" % os.getpid())
    return len(os.read(0, 1))


def handle(number: int) -> None:
    sorted([1], key=lambda value: block())


def interrupt(number: int) -> int:
    os.kill(os.getpid(), number)
    return 0


def main(way: str) -> None:
    number = signal.SIGALRM if way == "alarm" else signal.SIGUSR1
    action = Action(handler=HANDLER(handle), flags=SA_ONSTACK if way == "alternate" else 0)
    if way == "alternate":
        memory = ctypes.create_string_buffer(STACK_BYTES)
        LIBC.sigaltstack(ctypes.byref(Stack(ctypes.addressof(memory), 0, STACK_BYTES)), None)
    LIBC.sigaction(int(number), ctypes.byref(action), None)
    if way == "alarm":
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        while True:
            sorted([3], key=lambda base: base**30000)
    sorted([1], key=lambda value: interrupt(number))


main(sys.argv[1])
