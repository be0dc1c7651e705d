"""Reads Breakpad's microdumps: a crash as lines of text, such as Android's log keeps.

Between two marks stand, behind whatever the log puts in front of each line: `O` the system and the
processor, `R` the signal, `S` the stack, `C` the registers, `M` the modules; numbers have the base
16 and no 0x. What else there is (`V`, `P`, `G`, `H`) tells nothing of the stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from whocall.core.errors import Error
from whocall.core.signals import signal_name
from whocall.dumps.contexts import AARCH64, ARM, I386, X86_64, Machine, registers
from whocall.dumps.crash_signal import Crash, signal_info
from whocall.dumps.minidump import DumpModule, DumpThread, Memory, Minidump

_MACHINES = {"arm": ARM, "arm64": AARCH64, "x86": I386, "x86_64": X86_64}
_SYSTEMS = {"A": "Android", "L": "Linux"}
_BEGIN, _END = b"-----BEGIN BREAKPAD MICRODUMP-----", b"-----END BREAKPAD MICRODUMP-----"
MOST_TEXT = 1 << 26  # bytes of text that are looked at
_MOST_STACK = 1 << 24  # bytes
_MOST_MODULES = 1 << 16
_LONGEST = 1 << 16  # bytes of a line
_LAST = (1 << 64) - 1  # address
_LINE = re.compile(rb"(?:^|: )([ORSCM]) ([^\r\n]*)")
# `F/google-breakpad(25655):` or, with the thread behind the process, `174  175 F google-breakpad:`
_PROCESS = re.compile(rb"google-breakpad\( *([0-9]{1,9})\)|([0-9]{1,9}) +[0-9]{1,9} [A-Z] google-b")


def _lines(text: bytes, begin: int, end: int) -> Iterator[tuple[bytes, bytes]]:
    """Letter and contents of each line."""
    at = begin
    while at < end:
        stop = text.find(b"\n", at, end)
        stop = end if stop < 0 else stop
        found = _LINE.search(text, at, min(stop, at + 256))
        if found is not None and stop - at <= _LONGEST:
            yield found[1], text[found.start(2) : stop].strip()
        at = stop + 1


def _number(word: bytes) -> int:
    """Of hexadecimal digits; 0 for what is none."""
    try:
        return int(word, 16) & _LAST if len(word) <= 16 else 0
    except ValueError:
        return 0


def _bytes(word: bytes) -> bytes:
    """Of hexadecimal digits, of which a log may have cut off the last."""
    try:
        return bytes.fromhex(word[: len(word) // 2 * 2].decode("ascii"))
    except ValueError:
        return b""


def _build_id(word: bytes) -> str:
    """The first 16 bytes, of which Breakpad prints three as numbers, and an age behind them."""
    if len(word) < 33:
        return ""
    raw = _bytes(word[:32])
    if len(raw) < 16 or not any(raw):
        return ""
    return (raw[3::-1] + raw[5:3:-1] + raw[7:5:-1] + raw[8:]).hex()


class _Reader:
    def __init__(self, name: str) -> None:
        self.name = name
        self.machine: Machine | None = None
        self.system = self.processor = ""
        self.signal = self.address = 0
        self.context = b""
        self.stack = bytearray()
        self.memory: list[Memory] = []
        self.modules: list[DumpModule] = []
        self.remarks: list[str] = []

    def take(self, letter: bytes, contents: bytes) -> None:
        """One line."""
        words = contents.split()
        if letter == b"O" and len(words) >= 2:
            self.system = _SYSTEMS.get(words[0].decode("ascii", "replace"), "")
            self.processor = words[1].decode("ascii", "replace")
            self.machine = _MACHINES.get(self.processor)
        elif letter == b"R" and words:
            self.signal = _number(words[0])
            self.address = _number(words[2]) if len(words) > 2 else 0
        elif letter == b"C" and words:
            self.context = _bytes(words[0])
        elif letter == b"S" and len(words) == 2:
            self._take_stack(_number(words[0]), _bytes(words[1]))
        elif letter == b"M" and len(words) >= 5 and len(self.modules) < _MOST_MODULES:
            self._take_module(words)

    def _take_stack(self, address: int, part: bytes) -> None:
        if 0 < len(part) <= min(_MOST_STACK - len(self.stack), _LAST - address):
            self.memory.append(Memory(address, len(part), len(self.stack)))
            self.stack += part

    def _take_module(self, words: list[bytes]) -> None:
        begin, size = _number(words[0]), _number(words[2])
        path = b" ".join(words[4:]).decode("utf-8", "surrogateescape")
        if 0 < size <= _LAST - begin:
            self.modules.append(DumpModule(begin, begin + size, path, _build_id(words[3])))

    def result(self, pid: int) -> Minidump:
        """What a core can be made of. Raises Error."""
        if self.machine is None:
            raise Error(
                f"{self.name} is a microdump of a processor that is not supported"
                f" ({self.processor or 'it tells none'}): those of x86-64, i386, ARM and AArch64"
                " can be read",
                path=self.name,
            )
        values = registers(self.context, self.machine)
        if values is None:
            raise Error(
                f"{self.name} cannot be used as a microdump: its registers (the line `C`) are cut"
                " off; logs cut long lines, take it where it was written",
                path=self.name,
            )
        crash = None
        if signal_name(self.machine.name, self.signal) is not None:
            told = signal_info(self.signal, 0, self.address, 0, pid)
            crash = Crash(pid, self.signal, *told)
        return Minidump(
            machine=self.machine,
            system=self.system,
            writer="Breakpad",
            threads=[DumpThread(pid, "", values)],
            modules=self.modules,
            memory=self.memory,
            regions=[],
            mapped=False,
            crash=crash,
            auxiliary=b"",
            command="",
            pid=pid,
            time=0,
            remarks=self.remarks,
        )


def read_microdump(text: bytes, name: str) -> tuple[Minidump, bytes]:
    """The first whole microdump of a log, and the bytes that its memory's places are of.

    `name` names the log. Raises Error.
    """
    begin = text.find(_BEGIN)
    if begin < 0:
        raise Error(
            f"{name} holds lines of a microdump, but not its beginning; take the whole log",
            path=name,
        )
    end = text.find(_END, begin)
    reader = _Reader(name)
    if end < 0:
        end = len(text)
        reader.remarks.append("the microdump is cut off")
    for letter, contents in _lines(text, text.find(b"\n", begin) + 1 or end, end):
        reader.take(letter, contents)
    others = text.count(_BEGIN) - 1
    if others:
        reader.remarks.append(f"it holds {others} more, which are not read; the first is")
    line = text.rfind(b"\n", 0, begin) + 1
    process = _PROCESS.search(text, line, begin)
    pid = int(process[1] or process[2]) if process is not None else 0
    return reader.result(pid or 1), bytes(reader.stack)
