"""The stacks that eu-stack (elfutils) finds in a core or a process.

What its words mean, seen with 0.188 and read in its source:

- The printed pc of a caller is the exact return address, never pc-1. `-a` adds ` - 1` behind the pc
of each frame that is *not* an activation, that is, whose name is looked up one byte before. -
Activations are frame 0, a signal trampoline (its CFI has the 'S' augmentation) and the frame that
the signal interrupted. So an activation followed by an activation, other than frame 0 of a plain
stack, is the trampoline: `EuFrame.trampoline` says so. - `-n 0` means no limit; without it 256
frames are printed. - Exit code 0: every walk ended properly; 1: some frames, with errors; 2: none.
Codes 0 and 1 are accepted here, `complete` tells them apart. - A chain that ends with a pc of 0 has
an undefined return address; that frame is dropped. - Time grows with the square of the depth:
100,000 frames take over a minute. Give `limit`. - The stripped executable has to be given to
`--executable` for a core whose notes lack its path. - Names come from .dynsym, .symtab,
.gnu_debugdata and separate debug files. A local function without a symbol often gets the name of
the exported one before it: compare addresses, not names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from places.needs import ATTACHING, require

from oracles.remembered import remembered
from oracles.tools import ToolError, asked

_THREAD = re.compile(r"TID (\d+):")
_FRAME = re.compile(r"#(\d+)\s+0x([0-9a-f]+)(\s+- 1)?(.*)")


@dataclass(frozen=True)
class EuFrame:
    """One frame: its pc (the exact return address for callers), eu-stack's name and module."""

    level: int
    pc: int
    activation: bool
    name: str | None = None
    module: str | None = None
    trampoline: bool = False


@dataclass
class EuStacks:
    """All threads' frames by thread id, and whether every walk ended properly."""

    threads: dict[int, list[EuFrame]] = field(default_factory=dict)
    complete: bool = True

    def pcs(self) -> dict[int, list[int]]:
        """The exact pcs of each thread, innermost first."""
        return {tid: [frame.pc for frame in frames] for tid, frames in self.threads.items()}


def of_core(core: Path, exe: Path | None, limit: int = 0) -> EuStacks:
    """The stacks in a core file of `exe`; at most `limit` frames a thread, 0 for all.

    Without `exe` eu-stack looks for the file that the core names.
    """
    source = [f"--core={core}", *([f"--executable={exe}"] if exe else [])]
    return remembered("eu-stack", core, exe, limit, lambda: _run(source, limit))


def of_process(pid: int, limit: int = 0) -> EuStacks:
    """The stacks of a live process; it is stopped meanwhile and goes on afterwards."""
    require(ATTACHING)
    return _run(["-p", str(pid)], limit)


def _run(source: list[str], limit: int) -> EuStacks:
    command = ["eu-stack", "-a", "-m", "-r", "-n", str(limit), *source]
    finished = asked(command)
    # It also exits with 1 when it stopped at the limit that it was given.
    if finished.returncode not in (0, 1):
        raise ToolError(f"{' '.join(command)}: {finished.returncode}\n{finished.stderr}")
    return EuStacks(parse(finished.stdout), finished.returncode == 0)


def parse(text: str) -> dict[int, list[EuFrame]]:
    """Parse what `eu-stack -a -m -r` printed into frames by thread id."""
    threads: dict[int, list[EuFrame]] = {}
    frames: list[EuFrame] = []
    for line in text.splitlines():
        if thread := _THREAD.match(line):
            frames = threads.setdefault(int(thread[1]), [])
        elif found := _FRAME.match(line):
            frames.append(_frame(found))
    return {tid: _finish(frames) for tid, frames in threads.items()}


def _frame(found: re.Match[str]) -> EuFrame:
    """`#1  0xPC - 1 name - module`, where the name or both may be missing."""
    name, _, module = found[4].strip().rpartition("- ")
    if not module and not name:
        name = ""
    return EuFrame(
        level=int(found[1]),
        pc=int(found[2], 16),
        activation=found[3] is None,
        name=name.strip() or None,
        module=module.strip() or None,
    )


def _finish(frames: list[EuFrame]) -> list[EuFrame]:
    """Drop a last frame of pc 0, and mark the trampolines."""
    if len(frames) > 1 and frames[-1].pc == 0:
        frames = frames[:-1]
    marked = list(frames)
    for number in range(1, len(frames) - 1):
        before, frame, after = frames[number - 1 : number + 2]
        interrupted_before = before.activation and number > 1
        if frame.activation and after.activation and not interrupted_before:
            marked[number] = EuFrame(
                frame.level, frame.pc, True, frame.name, frame.module, trampoline=True
            )
    return marked
