"""The stacks that stock gdb finds, as data (by its Python API) and as the text of `bt`.

What its words mean, seen with gdb 13:

- `Frame.pc()` of a caller is the exact return address. - By default `bt` stops at `main`; past-main
and past-entry are switched on here so that it goes on to `_start`, as other unwinders do. - Inline
frames repeat the pc of the frame that they are inlined in; `GdbStacks.pcs` leaves them out, and
tail-call frames too, for no unwinder without debug information can see them. - A signal trampoline
is a frame of its own (kind `sigtramp`, in text `<signal handler called>`, without address). - `bt`
prints no address for a frame whose pc is at the beginning of a source line. - The stop reason is
"outermost" where the CFI says that the return address is undefined, "no reason" where the walk just
ended (a pc of 0), else the text of `bt`'s complaint.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from places.needs import ATTACHING, require

from oracles.remembered import remembered
from oracles.tools import ToolError, run

SETTINGS = (
    "set debuginfod enabled off",
    "set index-cache enabled on",  # the C library's debug file is read but once
    "set auto-load python-scripts off",
    "set pagination off",
    "set width 0",
    "set backtrace past-main on",
    "set backtrace past-entry on",
    "set backtrace limit unlimited",
    "set print frame-arguments none",
)


@dataclass(frozen=True)
class GdbFrame:
    """One frame: pc, kind (normal, sigtramp, inline, tailcall, ...), gdb's name or None."""

    pc: int
    kind: str
    name: str | None


@dataclass(frozen=True)
class GdbThread:
    """The frames of one thread, innermost first, and gdb's reason for stopping behind the last."""

    lwp: int
    frames: list[GdbFrame]
    stop: str

    def pcs(self) -> list[int]:
        """The pcs of the physical frames."""
        return [frame.pc for frame in self.frames if frame.kind not in ("inline", "tailcall")]


def of_core(
    core: Path, exe: Path | None, limit: int = 0, settings: Sequence[str] = ()
) -> dict[int, GdbThread]:
    """The stacks in a core of `exe` by thread id; at most `limit` frames a thread, 0 for all.

    Without `exe` gdb looks for the file that the core names. `settings` are commands that gdb
    executes before it opens the files.
    """
    before = [word for setting in settings for word in ("-iex", setting)]
    source = [*before, *([str(exe)] if exe else []), "-c", str(core)]
    if settings:  # which name other files
        return _walk(source, limit)
    return remembered("gdb", core, exe, limit, lambda: _walk(source, limit))


def of_process(pid: int, limit: int = 0) -> dict[int, GdbThread]:
    """The stacks of a live process, which goes on afterwards."""
    require(ATTACHING)
    return _walk(["-p", str(pid)], limit)


def bt_text(core: Path, exe: Path, *, all_threads: bool = True) -> str:
    """What `bt` prints; with `all_threads`, `thread apply all bt`. `oracles.bt_text` parses it."""
    return run(_command([str(exe), str(core)], "thread apply all bt" if all_threads else "bt"))


def _command(source: Sequence[str], *steps: str) -> list[str]:
    command = ["gdb", "-nx", "-q", "-batch"]
    for setting in SETTINGS:
        command += ["-iex", setting]
    command += source
    for step in steps:
        command += ["-ex", step]
    return command


def _walk(source: Sequence[str], limit: int) -> dict[int, GdbThread]:
    script = Path(__file__).with_name("gdb_frames.py")
    with tempfile.TemporaryDirectory() as directory:
        output = Path(directory) / "frames.json"
        said = run(
            _command(source, f"python output, limit = {str(output)!r}, {limit}", f"source {script}")
        )
        if not output.exists():
            raise ToolError(f"gdb wrote no frames of {' '.join(source)}\n{said}")
        threads = json.loads(output.read_text())
    return {
        thread["lwp"]: GdbThread(
            thread["lwp"], [GdbFrame(**frame) for frame in thread["frames"]], thread["stop"]
        )
        for thread in threads
    }
