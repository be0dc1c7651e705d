"""The library and the crash handler of other instruction sets, run by qemu-user."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from oracles import nm_table
from oracles.distribution import sysroot

from runtime.ahead import CHAIN, export, names, read, stripped
from runtime.lab import NATIVE, build
from runtime.reports import read_record, read_reports

TIMEOUT_SECONDS = 120.0


@dataclass(frozen=True)
class Foreign:
    """One instruction set with its compiler and emulator; "" where the machine runs it itself."""

    name: str
    triple: str
    qemu: str
    flags: tuple[str, ...] = ()

    def run(self, program: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        emulator = (self.qemu, "-L", str(sysroot(self.triple))) if self.qemu else ()
        return subprocess.run(
            [*emulator, program, *words],
            cwd=program.parent,
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=TIMEOUT_SECONDS,
        )


SETS = [
    Foreign("i386", "x86_64-linux-gnu", "", ("-m32",)),
    Foreign("aarch64", "aarch64-linux-gnu", "qemu-aarch64"),
    Foreign("arm", "arm-linux-gnueabihf", "qemu-arm", ("-funwind-tables",)),
    Foreign("mips", "mips-linux-gnu", "qemu-mips"),
    Foreign("mips64el", "mips64el-linux-gnuabi64", "qemu-mips64el"),
    Foreign("riscv64", "riscv64-linux-gnu", "qemu-riscv64"),
]
MODES = {"arm": [("-marm",), ("-mthumb",)]}


@pytest.fixture(scope="module", params=SETS, ids=[one.name for one in SETS])
def foreign(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Foreign, Path]:
    """The set, and the folder of its libraries; built by the library's own CMake project."""
    one: Foreign = request.param
    folder = tmp_path_factory.mktemp(one.name)
    flags = " ".join(one.flags)
    compilers = [
        f"-DCMAKE_{c}_COMPILER={one.triple}-{g}" for c, g in (("C", "gcc"), ("CXX", "g++"))
    ]
    options = [f"-DCMAKE_{c}_FLAGS={flags} -O1" for c in ("C", "CXX")]
    configure = ["/usr/bin/cmake", "-G", "Ninja", "-S", NATIVE / "runtime", "-B", folder]
    plain = ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_SYSTEM_NAME=Linux"]
    together = ["-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=0"]  # a third of the time
    subprocess.run(
        [*configure, *plain, *together, *compilers, *options], check=True, capture_output=True
    )
    wanted = ["--target", "whocall_static", "whocall_shared", "whocall_crash"]
    make = ["/usr/bin/cmake", "--build", folder, "-j2", *wanted]
    subprocess.run(make, check=True, capture_output=True)
    return one, folder


@pytest.mark.parametrize("optimized", ["-O0", "-O2"])
def test_the_callers(foreign: tuple[Foreign, Path], tmp_path: Path, optimized: str) -> None:
    one, libraries = foreign
    for mode in MODES.get(one.name, [()]):
        flags = (optimized, "-DSTATIC", *one.flags, *mode, str(libraries / "libwhocall.a"))
        program = build(tmp_path, "questions.c", *flags, compiler=f"{one.triple}-gcc")
        for way, caller in (("chain", "test_b"), ("qsort", "compare"), ("signal", "handler")):
            ran = one.run(program, way)
            lines = ran.stdout.splitlines()
            frames = [line.split()[1] for line in lines if line.startswith("frame: ")]
            assert f"who called: {caller} " in ran.stdout, ran
            assert "captured: the same" in lines
            assert frames[:2] == ["test_c", caller]
            assert frames[-1] == "main"


def test_rules_ahead(foreign: tuple[Foreign, Path], tmp_path: Path) -> None:
    """Of code with neither tables nor frame pointers, by the file that `whocall export` writes."""
    one, libraries = foreign
    flags = [flag for flag in one.flags if flag != "-funwind-tables"]
    for mode in MODES.get(one.name, [()]):
        library = str(libraries / "libwhocall.a")
        program, twin = stripped(tmp_path, *flags, *mode, library, triple=one.triple)
        export(program)
        found = read(program, one.run(program, "ask").stdout)
        assert names(twin, found.own)[: len(CHAIN)] == CHAIN


def test_without_rules(foreign: tuple[Foreign, Path], tmp_path: Path) -> None:
    """What is found of such code is true, with symbols and without: no frame that is made up."""
    one, libraries = foreign
    flags = [flag for flag in one.flags if flag != "-funwind-tables"]
    for mode in MODES.get(one.name, [()]):
        library = str(libraries / "libwhocall.a")
        program, twin = stripped(tmp_path, *flags, *mode, library, triple=one.triple)
        for each in (program, twin):
            found = names(twin, read(each, one.run(each, "ask").stdout).own)
            assert found[0] == "ask"
            assert found[: len(CHAIN)] == CHAIN[: len(found)]


ADDRESS = """
#include <stdio.h>
#include "whocall.h"
int main(void) {
  whocall_frame frame;
  const int found = find_function_by_addr((const void *)main, &frame);
  printf("%d %s+%d %lx\\n", found, frame.function, (int)frame.function_offset, (long)frame.offset);
  return 0;
}
"""


def test_the_address_of_a_function(foreign: tuple[Foreign, Path], tmp_path: Path) -> None:
    """That of T32 code has a bit that is no part of its place."""
    one, libraries = foreign
    (tmp_path / "address.c").write_text(ADDRESS)
    for mode in MODES.get(one.name, [()]):
        flags = ("-O1", *one.flags, *mode, str(libraries / "libwhocall.a"))
        program = build(tmp_path, str(tmp_path / "address.c"), *flags, compiler=f"{one.triple}-gcc")
        (main,) = (each for each in nm_table.symbols(program) if each.name == "main")
        mask = ~1 if one.name == "arm" else ~0
        assert one.run(program).stdout == f"0 main+0 {main.address & mask:x}\n"


def test_a_crash(foreign: tuple[Foreign, Path], tmp_path: Path) -> None:
    one, libraries = foreign
    flags = ("-O2", *one.flags)
    program = build(tmp_path, "cases.c", *flags, compiler=f"{one.triple}-gcc")
    preload = str(libraries / "libwhocall-crash.so")
    for case, chain in {
        "plain": ["plain", "main"],
        "thread": ["plain", "in_thread"],
        "call_of_nothing": ["?", "call_of_nothing", "main"],
        "in_own_handler": ["plain", "crash_in_handler"],
    }.items():
        record = tmp_path / case
        settings = {"WHOCALL_CRASH_RECORD": str(record)}
        if one.qemu:
            settings["QEMU_SET_ENV"] = f"LD_PRELOAD={preload}"
        else:
            settings["LD_PRELOAD"] = preload
        ran = one.run(program, case, **settings)
        (report,) = read_reports(ran.stderr)
        assert report.names[: len(chain)] == chain, ran
        assert report.complete
        if case == "in_own_handler":
            assert "in_own_handler" in report.names
        told, _ = read_record(record.read_bytes())
        assert told.signal == signal.SIGSEGV
        listed = [address for address, *_ in told.threads[0].frames]
        assert listed == [frame.address for frame in report.frames()]
        # qemu takes the repeated signal for a fault of its own: it dies too, in its own words.
        assert ran.returncode != 0 if one.qemu else ran.returncode == -signal.SIGSEGV
