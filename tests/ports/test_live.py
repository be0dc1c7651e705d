"""A program below qemu's gdb stub: gdb-multiarch knows neither where it lies nor what else does.

gdb's name of an instruction set may leave the byte order and the ABI open; an x86-64 guest shows
the rest too.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from oracles.tools import asked, run

from ports import ROOT
from ports.elf import Elf
from ports.sets import SETS, InstructionSet

DEEPEST = """
#define OUT_OF_LINE __attribute__((noinline))
OUT_OF_LINE int deepest(int x) { __asm__ volatile(""); return x + 1; }
"""
CALLS = """
OUT_OF_LINE int middle(int x) { return deepest(x) * 3; }
OUT_OF_LINE int outer(int x) { return middle(x + 1) * 3; }
__attribute__((visibility("default")))
int main(int argc, char **argv) { return outer(argc) + 5; }
"""
HANDLED = """
#include <signal.h>
OUT_OF_LINE void middle(int number) { deepest(number); __asm__ volatile(""); }
OUT_OF_LINE int outer(int x) { return raise(SIGUSR1) + x; }
int main(int argc, char **argv) { signal(SIGUSR1, middle); return outer(argc) + 5; }
"""
CHAIN = ["deepest", "middle", "outer", "main"]
FLAGS = ("-O1", "-fvisibility=hidden", "-fno-asynchronous-unwind-tables")
PIE = ("-fPIE", "-pie")
# Debian has no library of it.
N32 = ("-mabi=n32", "-mno-abicalls", "-fno-pic", "-nostdlib", "-static", "-Wl,-e,main")


def _n32(name: str, order: str) -> InstructionSet:
    return InstructionSet(name, SETS["mips64el"].triple, f"qemu-{name}", (order, *N32))


GUESTS = {
    "x86_64": InstructionSet("x86_64", "x86_64-linux-gnu", "qemu-x86_64"),
    **SETS,
    "mipsn32": _n32("mipsn32", "-EB"),
    "mipsn32el": _n32("mipsn32el", "-EL"),
}


@dataclass(frozen=True)
class Stub:
    """A guest that waits for gdb at its first instruction."""

    of: InstructionSet
    program: Path
    twin: Elf
    port: int

    def session(self, commands: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """gdb stops where `deepest` begins, then it gets the commands."""
        far = self.twin.address_of(CHAIN[0]) - self.twin.entry
        entry = (
            "python import re; gdb.set_convenience_variable('entry', int(re.search("
            "r'AT_ENTRY.*(0x[0-9a-f]+)', gdb.execute('info auxv', to_string=True))[1], 16))"
        )
        stop = [f"target remote 127.0.0.1:{self.port}", entry, f"break *($entry + {far})",
                "handle SIGUSR1 nostop noprint pass"]  # fmt: skip
        load = f"source {ROOT / 'gdbext' / 'whocall.py'}"
        words = [word for one in (*stop, "continue", load, *commands) for word in ("-ex", one)]
        sysroot = self.of.sysroot if Path(self.of.sysroot).is_dir() else "/"
        sysroot_said = ("-iex", f"set sysroot {sysroot}")
        gdb = ["gdb-multiarch", "-nx", "-q", "-batch", *sysroot_said, *words, str(self.program)]
        return asked(gdb, timeout=100)


@pytest.fixture
def stub(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stub]:
    """The stripped program, started; what the twin with symbols is asked for is the truth."""
    name, text = request.param
    of = GUESTS[name]
    source, twin, program = (tmp_path / name for name in ("prog.c", "twin", "prog"))
    source.write_text(DEEPEST + text)
    link = () if "-static" in of.flags else PIE
    run([f"{of.triple}-gcc", *FLAGS, *of.flags, *link, str(source), "-o", str(twin)])
    shutil.copy(twin, program)
    run([f"{of.triple}-strip", str(program)])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    guest = subprocess.Popen(
        [of.qemu, "-L", of.sysroot, "-g", str(port), str(program)], stderr=subprocess.DEVNULL
    )
    yield Stub(of, program, Elf(twin), port)
    guest.kill()
    guest.wait()


def _lines(said: str) -> list[str]:
    return [line for line in said.splitlines() if line.startswith("#")]


def _counts(said: str) -> list[tuple[str, str]]:
    """Of each comparison, how many of how many frames gdb has."""
    return re.findall(r"^gdb has (?:all )?(\d+) of whocall's (\d+) frames", said, re.MULTILINE)


def _chain(twin: Elf, said: str, at: str) -> list[str | None]:
    """The functions of all frames by their addresses, where `deepest` begins at `at`."""
    pcs = [int(match[1], 16) for line in _lines(said) if (match := re.search(r"0x(\w+)", line))]
    bias = int(at, 16) - twin.address_of(CHAIN[0])
    return [twin.function_at(pc - bias) for pc in pcs]


def guests(text: str, *names: str) -> pytest.MarkDecorator:
    """The program, run as these."""
    each = [pytest.param((name, text), id=name) for name in names]
    return pytest.mark.parametrize("stub", each, indirect=True)


@guests(CALLS, *GUESTS)
def test_walk_repair_step_and_finish(stub: Stub) -> None:
    """Modules come from the auxiliary vector and the linker's list that the stub lets us read."""
    done = stub.session(
        ["echo --- walk\\n", "whocall bt", "whocall compare",
         "echo --- repaired\\n", "whocall repair", "bt", "whocall compare",
         "echo --- up\\n", "up",
         "echo --- stepped\\n", "step", "bt",
         "echo --- finished\\n", "finish", "bt",
         "echo --- walked again\\n", "whocall bt", "kill"]
    )  # fmt: skip
    _, walk, repaired, up, stepped, finished, again = done.stdout.split("--- ")
    at = _lines(walk)[0].split()[1]
    assert _chain(stub.twin, walk, at) == CHAIN, done
    assert _chain(stub.twin, repaired, at) == CHAIN, done
    [(_, frames)], [(gdbs, ours)] = _counts(walk), _counts(repaired)
    assert gdbs == ours == frames, done
    assert _chain(stub.twin, up, at) == CHAIN[1:2], done
    assert _chain(stub.twin, stepped, at) == CHAIN[1:], done
    assert _chain(stub.twin, finished, at) == CHAIN[2:], done
    assert _chain(stub.twin, again, at) == CHAIN[2:], done


@guests(HANDLED, "x86_64", *SETS)
def test_below_a_signal_handler(stub: Stub) -> None:
    """That of AArch64 gdb 13 reads, does not believe it as qemu writes it, and gives up."""
    done = stub.session(
        ["echo --- walk\\n", "whocall bt",
         "echo --- repaired\\n", "whocall repair", "bt", "whocall compare", "kill"]
    )  # fmt: skip
    _, walk, repaired = done.stdout.split("--- ")
    at = _lines(walk)[0].split()[1]
    for said in walk, repaired.split("verdict")[0]:
        assert [name for name in _chain(stub.twin, said, at) if name] == CHAIN, done
    [(gdbs, ours)] = _counts(repaired)
    assert gdbs == ours, done


@guests(CALLS, "mips")
def test_an_instruction_set_that_is_not_known(stub: Stub) -> None:
    """Its code would be decoded as what it is not."""
    done = stub.session(["set architecture mips:isa32r6", "whocall bt"])
    assert "does not know the architecture mips:isa32r6 (32 bits, big endian)" in done.stderr, done
    assert "#0" not in done.stdout
