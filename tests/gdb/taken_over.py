"""A parser that somebody's file has taken over, or that has a fault: in whichever process it runs.

To be executed by gdb's Python: `plant(NAME)` lets the next opening of a core do what NAME says, and
`plant("")` nothing.
"""

from __future__ import annotations

PLANT = r"""
import ctypes, os, resource, signal, socket, sys, time
from whocall.base.native_module import native
from whocall.base import limits
from whocall.gdb_helper import worker
_planted = {"name": "", "folder": ""}
_lines = []
_sender = worker.Sender
def _noted(line):
    _lines.append(line)
    return _sender(line)
worker.Sender = _noted
_real = native.open_core
_libc = ctypes.CDLL(None)

def _stack():  # glibc's compiler of regular expressions goes as deep as the text does
    _libc.regcomp(ctypes.create_string_buffer(4096), b"(" * 500000, 1)
def _memory():
    kept = []
    while True: kept.append(bytearray(1 << 24))
def _memory_of_c():
    while True: ctypes.memset(_libc.calloc(1, 1 << 24), 1, 1 << 24)
def _at_work():  # for whoever waits until it is
    _libc.prctl(15, b"at work", 0, 0, 0)  # PR_SET_NAME
def _endless():
    _at_work()
    while True: pass
def _deaf():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _at_work()
    while True: time.sleep(1)
def _slow():
    _at_work()
    while True: time.sleep(0.01)
def _signal(number): return lambda: os.kill(os.getpid(), number)
def _connect():
    with open(_planted["folder"] + "/port") as file: port = int(file.read())
    socket.create_connection(("127.0.0.1", port))
def _write(): open(_planted["folder"] + "/made", "w")
def _nonsense():
    os.write(_lines[-1].descriptors[1], b"\xff" * 64)
    time.sleep(100)
def _huge():
    os.write(_lines[-1].descriptors[1], b"t\xff\xff\xff\xff")
    time.sleep(100)
def _spoken():
    line = _lines[-1]
    line.say(b"t", b"#0 \x1b[31mred\x1b]0;title\x07 \xff \xe2\x80\xae\n")
    line.say(b"d", b"[" * 100000)

_FAULTS = {
    "": lambda: None, "stack": _stack, "memory": _memory, "memory of C": _memory_of_c,
    "SIGSEGV": _signal(signal.SIGSEGV), "SIGBUS": _signal(signal.SIGBUS), "abort": os.abort,
    "SIGKILL": _signal(signal.SIGKILL), "exit": lambda: os._exit(0), "endless": _endless,
    "exec": lambda: os.execv("/bin/echo", ["echo", "SUCCEEDED"]),
    "connect": _connect, "write": _write, "deaf": _deaf, "slow": _slow,
    "nonsense": _nonsense, "huge": _huge, "spoken": _spoken,
}

def _open_core(*given, **named):
    _FAULTS[_planted["name"]]()
    return _real(*given, **named)

native.open_core = _open_core

def plant(name, folder=""):
    from whocall.gdb.host import helper
    _planted.update(name=name, folder=folder)
    limits.PROCESSOR_TIME = 1 if name == "endless" else 600
    limits.memory_for = lambda jobs: 300 << 20
    helper.end()
def helper_now():
    from whocall.gdb.host import helper
    return helper._helper.process if helper._helper else 0
def children():
    with open(f"/proc/self/task/{os.getpid()}/children") as file: return file.read().split()
"""
