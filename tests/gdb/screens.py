"""gdb on a terminal that is read as a person reads it: tmux keeps the screen."""

from __future__ import annotations

import re
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from sessions import GDB, INDEX, SCRIPT, environment

PATIENCE = 60  # seconds for a screen to come
SIZE = (100, 40)  # columns and lines
_BORDER = "│"


class Screen:
    """A gdb with the extension loaded, on a terminal of SIZE."""

    def __init__(self, folder: Path, arguments: Sequence[str | Path] = (), **more: str) -> None:
        command = [GDB, "-nx", "-q", *INDEX, "-iex", "set debuginfod enabled off"]
        command += ["-iex", "set pagination off", "-iex", "set startup-with-shell off"]
        command += ["-ex", f"source {SCRIPT}", *map(str, arguments)]
        self._socket = folder / "tmux"
        self._environment = environment(**{"LC_ALL": "C.UTF-8", **more})
        self._environment.pop("TMUX", None)
        size = ["-x", str(SIZE[0]), "-y", str(SIZE[1])]
        self._tmux("-u", "-f", "/dev/null", "new-session", "-d", *size, shlex.join(command))
        self.wait(lambda lines: "(gdb)" in "\n".join(lines))

    def _tmux(self, *arguments: str) -> str:
        ran = subprocess.run(
            ["tmux", "-S", str(self._socket), *arguments],
            env=self._environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=PATIENCE,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def __enter__(self) -> Screen:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._tmux("kill-server")

    def type(self, line: str) -> None:
        """A line at gdb's prompt."""
        self._tmux("send-keys", "-l", line)
        self._tmux("send-keys", "Enter")

    def press(self, *keys: str) -> None:
        """Keys by tmux's names: Down, NPage, C-c."""
        self._tmux("send-keys", *keys)

    @contextmanager
    def resized(self, columns: int, lines: int) -> Iterator[None]:
        """Another size for a while; what fails in it leaves the next test the usual one."""
        self._resize(columns, lines)
        try:
            yield
        finally:
            self._resize(*SIZE)

    def _resize(self, columns: int, lines: int) -> None:
        self._tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def lines(self, colours: bool = False) -> list[str]:
        """What stands on the screen; with `colours`, with the sequences that make them."""
        return self._tmux("capture-pane", "-p", *["-e"] * colours).splitlines()

    def wait(self, wanted: Callable[[list[str]], object]) -> list[str]:
        """The screen's lines once they are as wanted, and nothing is being drawn."""
        end = time.monotonic() + PATIENCE
        before: list[str] = []
        while not (wanted(lines := self.lines()) and lines == before):
            assert time.monotonic() < end, "\n".join(lines)
            before = lines
            time.sleep(0.05)
        return lines

    def wait_for(self, text: str) -> list[str]:
        """The rows of the stack window once `text` is in one of them, or in its title."""
        return window(self.wait(lambda lines: any(text in row for row in window(lines))))


def window(lines: list[str]) -> list[str]:
    """The stack window: its title and its rows, without borders. Empty when it is not there."""
    top = next((at for at, line in enumerate(lines) if line.startswith("┌─")), None)
    if top is None:
        return []
    rows = [lines[top].strip("┌─┐")]
    for line in lines[top + 1 :]:
        if not line.startswith(_BORDER):
            break
        rows.append(line[1:].rstrip().removesuffix(_BORDER).rstrip())
    return rows


def colours(lines: list[str]) -> set[str]:
    """The codes of foreground colours inside the borders of the lines of a window."""
    found: set[str] = set()
    for line in lines:
        inner = line.split(_BORDER)[1:-1]
        found |= set(re.findall(r"\x1b\[(?:[0-9;]*;)?(3[0-7])m", _BORDER.join(inner)))
    return found
