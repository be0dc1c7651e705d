"""gdb's own frames for `whocall compare` on the command line: gdb is run once, and tells them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from typing import Any

from whocall.core import loader
from whocall.core.errors import Error
from whocall.core.extras import GDB
from whocall.core.image import ProcessImage
from whocall.core.long_work import working
from whocall.report.comparison.verdicts import GdbFrame, GdbStack

MARK = "whocall-frames:"
_LOOK_UP = 0.25  # seconds from one word to people who wait to the next


def _command(
    gdb: str, image: ProcessImage, core: str, exe: str, lwps: Sequence[int], options: Any
) -> list[str]:
    command = [gdb, "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"]
    sysroot = image.files_root or options.sysroot
    if sysroot:
        command += ["-iex", f"set sysroot {sysroot}"]
    if options.search:
        command += ["-iex", f"set solib-search-path {':'.join(options.search)}"]
    if exe:
        command.append(exe)
    load = f"import sys; sys.path.insert(0, {str(loader.package().parent)!r})"
    dump = f"import whocall.gdb.target.frames as frames; frames.dump({list(lwps)!r})"
    return [*command, "-c", core, "-ex", f"python {load}", "-ex", f"python {dump}"]


def _exe_of(image: ProcessImage) -> str:
    main = [module for module in image.modules if module.is_executable]
    return next((module.file_path for module in main if module.file_path), "")


def _stack_from(found: dict[str, Any]) -> GdbStack:
    return GdbStack([GdbFrame(**frame) for frame in found["frames"]], found["stop"])


def stacks_from(stacks: dict[str, Any], lwps: Sequence[int]) -> dict[int, GdbStack]:
    """The stacks of the threads `lwps` out of what `whocall.gdb.target.frames.dump` printed.

    In a core of one thread that may have no LWP in gdb.
    """
    empty = GdbStack([], "gdb has no such thread")
    known = {int(lwp): _stack_from(found) for lwp, found in stacks.items()}
    if len(known) == 1 and len(lwps) == 1:
        return {lwps[0]: next(iter(known.values()))}
    return {lwp: known.get(lwp, empty) for lwp in lwps}


def _ran(command: list[str], core: str) -> tuple[str, str]:
    """What gdb wrote to its output and its error stream; an interrupt ends it. Raises OSError."""
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="surrogateescape",
    ) as gdb:
        try:
            while True:
                working(f"Asking {command[0]} for its backtrace of {core}")
                try:
                    return gdb.communicate(timeout=_LOOK_UP)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            gdb.kill()


def gdb_stacks(
    image: ProcessImage,
    core: str,
    exe: str,
    lwps: Sequence[int],
    options: Any,
) -> dict[int, GdbStack]:
    """gdb's frames of the threads `lwps`, by LWP; raises Error when gdb cannot be asked."""
    gdb = os.environ.get("GDB", "gdb")
    command = _command(gdb, image, core, exe or _exe_of(image), lwps, options)
    try:
        out, err = _ran(command, core)
    except OSError as error:
        raise Error(f"cannot start {gdb}: {error.strerror}; install {GDB.package}") from error
    for line in out.splitlines():
        if line.startswith(MARK):
            return stacks_from(json.loads(line[len(MARK) :]), lwps)
    last = (err.strip().splitlines() or ["it said nothing"])[-1]
    raise Error(f"{gdb} gave no frames of {core}: {last}")
