"""How many instructions a frame of a warm walk takes: of a stack of x86-64, and of one of AArch64.

    PYTHONPATH=tests python3 -m bench.instructions [--arm64]

`whocall_walks` walks the same chain of calls (tests/native/unwind_deep_calls.h) on both stacks
under qemu-user, which logs every instruction that the program runs; what two numbers of walks take
tells what one takes. With --arm64 AArch64's own build walks its stack, too: the cross compiler
makes it, against the root of `scripts/arm64`, which is made where it is missing. The figure is one
of instructions: it says nothing of a machine's time.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from arm64 import BUILD, ROOT, Arm64Error
from arm64.built import build
from arm64.root import made

RELEASE = Path(os.environ.get("WHOCALL_BUILD_DIR", ROOT / "build" / "release"))
CROSS = BUILD.with_name("arm64-walks")
FEW, MANY = 10, 110
"""Walks of one run."""


class Walks(NamedTuple):
    """A build, and whose stack it walks."""

    title: str
    command: list[str]
    stack: str


def counted(walks: Walks, times: int) -> tuple[int, str]:
    """The instructions of a whole run, and what the program says."""
    emulator = walks.command[0]
    rest = [*walks.command[1:], walks.stack, str(times)]
    run = [emulator, "-singlestep", "-d", "nochain,exec", "-D", "/dev/stderr", *rest]
    with subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as emulated:
        count = subprocess.run(
            ["grep", "-c", "^Trace "], stdin=emulated.stderr, capture_output=True, check=True
        )
        said = emulated.stdout.read().decode() if emulated.stdout else ""
    if emulated.returncode:
        raise Arm64Error(f"{' '.join(rest)} ended with status {emulated.returncode}")
    return int(count.stdout), said.strip()


def ours() -> list[Walks]:
    """This machine's build on both stacks."""
    subprocess.run(
        ["/usr/bin/ninja", "-C", RELEASE, "whocall_walks"], check=True, stdout=sys.stderr
    )
    command = ["qemu-x86_64", str(RELEASE / "whocall_walks")]
    return [
        Walks("x86-64's stack by x86-64", command, "x86_64"),
        Walks("AArch64's stack by x86-64", command, "aarch64"),
    ]


def theirs() -> Walks:
    """AArch64's build on its stack; raises Arm64Error where it cannot be had."""
    root = made() / "root"
    build(root, CROSS, "-O2 -DNDEBUG", ["whocall_walks"])
    command = ["qemu-aarch64", "-L", str(root), str(CROSS / "whocall_walks")]
    return Walks("AArch64's stack by AArch64", command, "aarch64")


def main() -> int:
    """Prints a line for each."""
    parser = argparse.ArgumentParser(prog="python3 -m bench.instructions")
    parser.add_argument("--arm64", action="store_true", help="AArch64's own build, too")
    given = parser.parse_args()
    for program in ("qemu-x86_64", "qemu-aarch64"):
        if shutil.which(program) is None:
            print(f"no {program}: apt-get install qemu-user", file=sys.stderr)
            return 2
    try:
        for walks in [*ours(), *([theirs()] if given.arm64 else [])]:
            (few, said), (many, _) = counted(walks, FEW), counted(walks, MANY)
            frames, quick = map(int, said.split())
            each = (many - few) / (MANY - FEW) / frames
            steps = f"{quick} of {frames - 1} steps quick"
            print(f"{walks.title:27} {each:6.1f} instructions a frame, {steps}")
    except Arm64Error as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
