"""Where commands are run and measured: their environment, their caches, and who starts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.figures import Figure, Figures, Job

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "gdbext"
SCRIPT = PACKAGE / "whocall.py"


class FailedError(RuntimeError):
    """A command that was to be measured failed; the message holds what it said."""


class Workshop:
    """Starts commands without network, with a cache of their own that begins empty."""

    def __init__(self, rounds: int, small: bool) -> None:
        self.rounds = rounds
        self.small = small
        """Only what takes little is asked."""
        self.differing: dict[str, str] = {}
        """Figures that do not count, and why: an answer that is not ours."""
        self._checked: set[str] = set()
        self._folder = tempfile.TemporaryDirectory(prefix="whocall-bench-")
        self.place = Path(self._folder.name)
        self.build = Path(os.environ.get("WHOCALL_BUILD_DIR") or ROOT / "build" / "release")
        left = {name: value for name, value in os.environ.items() if name != "DEBUGINFOD_URLS"}
        self.environment = {
            **left,
            "LC_ALL": "C.UTF-8",
            "WHOCALL_BUILD_DIR": str(self.build),
            "XDG_CACHE_HOME": str(self.place / "cache"),
            "PYTHONPYCACHEPREFIX": str(self.place / "compiled"),
        }
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self._spawner = subprocess.Popen(
            [sys.executable, "-S", "-E", str(Path(__file__).with_name("spawner.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        """Ends the spawner and removes what was written."""
        self._spawner.communicate()
        self._folder.cleanup()

    def run(self, command: Sequence[str], output: str = os.devnull, cache: str = "") -> Figure:
        """One command; `cache` is another folder for its facts."""
        environment = {**self.environment, **({"XDG_CACHE_HOME": cache} if cache else {})}
        asked = {"argv": list(command), "environment": environment, "output": output}
        if self._spawner.stdin is None or self._spawner.stdout is None:
            raise FailedError("the spawner has no pipes")
        self._spawner.stdin.write(json.dumps(asked) + "\n")
        self._spawner.stdin.flush()
        told = json.loads(self._spawner.stdout.readline())
        if told["status"]:
            said = Path(output + ".err") if output != os.devnull else None
            text = said.read_text(errors="replace")[-2000:] if said else ""
            raise FailedError(f"{' '.join(command)}: status {told['status']}\n{text}")
        return Figure(told["seconds"], told["peak"] / 1024)

    def output(self, command: Sequence[str], cache: str = "") -> tuple[str, Figure]:
        """What a command prints."""
        with tempfile.NamedTemporaryFile(dir=self.place) as file:
            figure = self.run(command, file.name, cache)
            text = Path(file.name).read_text(errors="replace")
            Path(file.name + ".err").unlink(missing_ok=True)
        return text, figure

    def process(self, name: str, command: Sequence[str]) -> Job:
        """A job that is a whole process."""
        return lambda: {name: self.run(command)}

    def unseen(self, name: str, command: Sequence[str]) -> Job:
        """The same with no fact known of any file."""

        def job() -> Figures:
            with tempfile.TemporaryDirectory(dir=self.place) as empty:
                return {name: self.run(command, cache=empty)}

        return job

    def told(self, command: Sequence[str], cache: str = "") -> Job:
        """A job that measures by itself and says `NAME COST` in lines that begin with `=`."""

        def job() -> Figures:
            text, figure = self.output(command, cache)
            words = [line[1:].rsplit(None, 1) for line in text.splitlines() if line[:1] == "="]
            return {name.strip(): Figure(float(cost), figure.peak) for name, cost in words}

        return job

    def check(self, name: str, complaint: Callable[[], str]) -> None:
        """Once, whether an answer is ours; the figure does not count where it is another."""
        if name not in self._checked:
            self._checked.add(name)
            if said := complaint():
                self.differing[name] = said

    def whocall(self, *words: str) -> list[str]:
        """The command line's command."""
        return [sys.executable, str(SCRIPT), *words]
