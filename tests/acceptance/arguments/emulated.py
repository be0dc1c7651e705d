"""The same in an emulator, for other sets: a debugger stops where each function begins."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from corpus.addresses import same_addresses
from corpus.crash import ENVIRONMENT, set_limits
from kept import Tool, compilers, kept, sources
from places.needs import FIXED_ADDRESSES, require
from ports import stub_core
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


def core_of(place: Path, of: InstructionSet) -> Path:
    """That of the same run; of an emulator that writes none, of another one, which is the same."""
    if not of.stub:
        (core,) = place.glob("qemu_*.core")
        return core
    core = place / "core"
    command = [of.qemu, "-L", sysroot_of(of), str(place / "program")]
    stub_core.crash(command, of.stub, core, cwd=place, env=ENVIRONMENT,
                    preexec_fn=lambda: set_limits(stack=STACK, dumped=0))  # fmt: skip
    return core


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
        require(FIXED_ADDRESSES)  # later emulators let the kernel place the stack
    with same_addresses():
        handed = _run(place, where, names)
        core = core_of(place, of)
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
