"""The same for other instruction sets, in an emulator: a debugger stops where each function begins."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from corpus.crash import ENVIRONMENT, set_limits
from kept import Tool, compilers, kept, sources
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
REGISTERS = {"aarch64": [f"x{number}" for number in range(6)]}
"""Of the first arguments, in order, by gdb's names."""
# The stack pointer on entry is the CFA. A place that is used again is that of the last call.
SCRIPT = """
import gdb, json
gdb.execute("target remote SOCKET")
starts = {}
for name in NAMES:
    stop = gdb.Breakpoint("*" + name)
    starts[stop.number] = name
handed = {}
ended = []
def stopped(event):
    if isinstance(event, gdb.BreakpointEvent):
        frame = gdb.newest_frame()
        mask = (1 << 64) - 1
        values = [int(frame.read_register(name)) & mask for name in REGISTERS]
        handed[int(frame.read_register("sp")) & mask] = values
    else:
        ended.append(event)
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


def _run(place: Path, of: InstructionSet, names: list[str]) -> dict[int, list[int]]:
    script, socket = place / "stops.py", place / "stub"
    text = SCRIPT.replace("NAMES", repr(names)).replace("SOCKET", str(socket))
    script.write_text(text.replace("REGISTERS", repr(REGISTERS[of.name])))
    with subprocess.Popen(
        [of.qemu, "-L", of.sysroot, "-g", str(socket), str(place / "program")],
        cwd=place,
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: set_limits(stack=STACK, dumped=0),
    ) as emulator:
        try:
            options = ["-iex", "set debuginfod enabled off", "-iex", f"set sysroot {of.sysroot}"]
            told = ran("gdb-multiarch", "-nx", "-q", "-batch", *options, place / "twin", "-x", script)
            emulator.wait(timeout=60)
        finally:
            emulator.kill()
    (line,) = [line for line in told.splitlines() if line.startswith("{")]
    return {int(cfa): values for cfa, values in json.loads(line).items()}


def _made(place: Path, seed: int, of: InstructionSet, flags: tuple[str, ...]) -> Crash:
    (place / "program.c").write_text(program_text(seed, "gcc"))
    twin, stripped = place / "twin", place / "program"
    ran(f"{of.triple}-gcc", *DIALECT, *flags, "program.c", "-o", "twin", cwd=place)
    ran(f"{of.triple}-strip", "-o", stripped, twin)
    functions = functions_of(twin)
    names = [name for name in functions if name.startswith("f") and name[1:].isdigit()]
    names += ["mix", "touch", "fill"]
    handed = _run(place, of, names)
    (core,) = place.glob("qemu_*.core")
    ran("fallocate", "--dig-holes", core)
    sizes = sizes_of(twin, names, place, "gdb-multiarch")
    return Crash(core, stripped, functions, handed, sizes, of.sysroot)


def crash(seed: int, name: str, *flags: str) -> Crash:
    """The program of this seed for an instruction set, made once on a machine."""
    of = SETS[name]
    tools = [Tool(of.qemu), Tool("gdb-multiarch"), Tool(f"{of.triple}-ld")]
    texts = sources(Path(__file__).parent)
    recipe = ("handed", seed, name, flags, compilers(f"{of.triple}-gcc"), texts, tools)
    return kept(recipe, lambda place: _made(place, seed, of, flags))
