"""The same in an emulator, for other sets: a debugger stops where each function begins."""

from __future__ import annotations

import json
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from artifact_cache import Tool, compilers, kept, sources
from corpus.crash import ENVIRONMENT, set_limits
from ports import stub_core
from ports.elf import Elf
from ports.sets import SETS, InstructionSet

from acceptance.arguments.truth import (
    DIALECT,
    Crash,
    functions_of,
    program_text,
    ran,
    sizes_of,
)

STACK = 512 * 1024
MOST = 10
"""Parameters of a function: more than most sets have registers for."""


@dataclass(frozen=True)
class Places:
    """Where an instruction set hands arguments over, by gdb's names."""

    of: InstructionSet
    registers: tuple[str, ...]
    word: int = 8
    pushed: int = 0
    """By a call, bytes: the CFA lies so far above the stack pointer on entry."""


PLACES = {
    "aarch64": Places(SETS["aarch64"], tuple(f"x{number}" for number in range(8))),
    "arm": Places(SETS["arm"], ("r0", "r1", "r2", "r3"), 4),
    "thumb": Places(SETS["thumb"], ("r0", "r1", "r2", "r3"), 4),
    "riscv64": Places(SETS["riscv64"], tuple(f"a{number}" for number in range(8))),
    "i386": Places(InstructionSet("i386", "x86_64-linux-gnu", "qemu-i386", ("-m32",)), (), 4, 4),
    "x86_64": Places(
        InstructionSet("x86_64", "x86_64-linux-gnu", "qemu-x86_64"),
        ("rdi", "rsi", "rdx", "rcx", "r8", "r9"),
        pushed=8,
    ),
}
# A place that is used again is that of the last call.
SCRIPT = """
import gdb, json
gdb.execute("target remote SOCKET")
for name in NAMES:
    gdb.Breakpoint("*" + name)
handed = {}
ended = []
def stopped(event):
    if not isinstance(event, gdb.BreakpointEvent):
        ended.append(event)
        return
    frame = gdb.newest_frame()
    bits = (1 << 8 * WORD) - 1
    cfa = (int(frame.read_register("sp")) & bits) + PUSHED
    values = [int(frame.read_register(name)) & bits for name in REGISTERS]
    memory = bytes(gdb.selected_inferior().read_memory(cfa, MOST * WORD))
    words = [memory[at : at + WORD] for at in range(0, len(memory), WORD)]
    handed[cfa] = (values + [int.from_bytes(word, "little") for word in words])[:MOST]
gdb.events.stop.connect(stopped)
while not ended:
    gdb.execute("continue", to_string=True)
gdb.events.stop.disconnect(stopped)
print(json.dumps(handed))
try:
    gdb.execute("continue", to_string=True)
except gdb.error:
    pass  # the program has gone, and so has who spoke for it
"""


def _run(place: Path, where: Places, names: list[str]) -> dict[int, list[int]]:
    script, socket, of = place / "stops.py", place / "stub", where.of
    text = SCRIPT.replace("NAMES", repr(names)).replace("SOCKET", str(socket))
    text = text.replace("REGISTERS", repr(where.registers)).replace("PUSHED", str(where.pushed))
    script.write_text(text.replace("WORD", str(where.word)).replace("MOST", str(MOST)))
    with subprocess.Popen(
        [of.qemu, "-L", sysroot_of(of), "-g", str(socket), str(place / "program")],
        cwd=place,
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: set_limits(stack=STACK, dumped=0),
    ) as emulator:
        try:
            options = [
                "-iex",
                "set debuginfod enabled off",
                "-iex",
                f"set sysroot {sysroot_of(of)}",
            ]
            told = ran(
                "gdb-multiarch", "-nx", "-q", "-batch", *options, place / "twin", "-x", script
            )
            emulator.wait(timeout=60)
        finally:
            emulator.kill()
    (line,) = [line for line in told.splitlines() if line.startswith("{")]
    return {int(cfa): values for cfa, values in json.loads(line).items()}


def sysroot_of(of: InstructionSet) -> str:
    return "/" if of.triple == "x86_64-linux-gnu" else of.sysroot


def core_of(place: Path) -> Path:
    """What an emulator wrote there."""
    (core,) = place.glob("qemu_*.core")
    return core


class _Watch:
    """Stops a program of RISC-V's by the emulator's stub where its functions begin: of a run that
    ends in a core, as the emulator writes none.
    """

    AT_ENTRY, TRAP = 9, b"T05"

    def __init__(self, twin: Path, starts: list[int]) -> None:
        self._entry, self._starts = Elf(twin).entry, starts
        self._planted: set[int] = set()
        self.handed: dict[int, list[int]] = {}

    def go_on(self, stub: stub_core.Stub, packet: bytes) -> bytes:
        """Past its own stops."""
        if not self._planted:
            vector = struct.iter_unpack("<QQ", stub.auxiliary())
            base = next(value for kind, value in vector if kind == self.AT_ENTRY) - self._entry
            self._planted = {base + start for start in self._starts}
            for place in self._planted:
                self._plant(stub, b"Z", place)
        said = stub.ask(packet)
        while said.startswith(self.TRAP):
            ((_, words),) = stub.threads(0)
            pc, *registers = (word for (word,) in struct.iter_unpack("<Q", words))
            if pc not in self._planted:
                break
            self._record(stub, [0, *registers])
            self._plant(stub, b"z", pc)
            stub.ask(b"s")
            self._plant(stub, b"Z", pc)
            said = stub.ask(b"c")
        return said

    def _record(self, stub: stub_core.Stub, x: list[int]) -> None:
        memory = bytes.fromhex(stub.ask(b"m%x,%x" % (x[2], 8 * MOST)).decode())
        on_stack = [word for (word,) in struct.iter_unpack("<Q", memory)]
        self.handed[x[2]] = [*x[10:18], *on_stack][:MOST]

    @staticmethod
    def _plant(stub: stub_core.Stub, how: bytes, place: int) -> None:
        assert stub.ask(b"%s0,%x,2" % (how, place)) == b"OK"


def _run_by_stub(
    place: Path, where: Places, starts: list[int]
) -> tuple[dict[int, list[int]], Path]:
    """What was handed over, and the core of the same run."""
    of, core, watch = where.of, place / "core", _Watch(place / "twin", starts)
    command = [of.qemu, "-L", sysroot_of(of), str(place / "program")]
    stub_core.crash(command, of.stub, core, watch.go_on, cwd=place, env=ENVIRONMENT,
                    preexec_fn=lambda: set_limits(stack=STACK, dumped=0))  # fmt: skip
    return watch.handed, core


def _made(place: Path, seed: int, where: Places, flags: tuple[str, ...]) -> Crash:
    of = where.of
    (place / "program.c").write_text(program_text(seed, "gcc", MOST))
    twin, stripped = place / "twin", place / "program"
    ran(f"{of.triple}-gcc", *DIALECT, *of.flags, *flags, "program.c", "-o", "twin", cwd=place)
    ran(f"{of.triple}-strip", "-o", stripped, twin)
    functions = functions_of(twin)
    names = [name for name in functions if name.startswith("f") and name[1:].isdigit()]
    names += ["mix", "touch", "fill"]
    if of.stub:
        handed, core = _run_by_stub(place, where, [functions[name][0] for name in names])
    else:
        handed = _run(place, where, names)
        core = core_of(place)
    ran("fallocate", "--dig-holes", core)
    sizes = sizes_of(twin, names, place, "gdb-multiarch")
    return Crash(core, stripped, functions, handed, sizes, sysroot_of(of))


def crash(seed: int, name: str, *flags: str) -> Crash:
    """The program of this seed for an instruction set, made once on a machine."""
    where = PLACES[name]
    of = where.of
    tools = [Tool(of.qemu), Tool("gdb-multiarch"), Tool(f"{of.triple}-ld")]
    texts = sources(Path(__file__).parent)
    recipe = ("handed", seed, name, flags, compilers(f"{of.triple}-gcc"), texts, tools)
    return kept(recipe, lambda place: _made(place, seed, where, flags))
