"""Other instruction sets: their compilers, their emulators, and libwhocall built for them."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from oracles.distribution import sysroot

from runtime.lab import NATIVE

TIMEOUT_SECONDS = 120.0


@dataclass(frozen=True)
class Foreign:
    """One instruction set with its compiler and emulator; "" where the machine runs it itself."""

    name: str
    triple: str
    qemu: str
    flags: tuple[str, ...] = ()

    def run(self, program: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Runs a program of it to its end."""
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


def build_libraries(one: Foreign, folder: Path) -> None:
    """Builds them there, by the library's own CMake project."""
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
