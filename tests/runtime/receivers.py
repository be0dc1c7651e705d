"""A receiver that runs beside the tests, and what it keeps."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WHOCALL = Path(__file__).resolve().parents[2] / "gdbext" / "whocall.py"
PATIENCE = 60.0


@dataclass(frozen=True)
class Running:
    """One that listens."""

    process: subprocess.Popen[str]
    socket: Path
    store: Path

    @property
    def said(self) -> Path:
        """What it says on standard error."""
        return self.socket.with_name("said")

    @property
    def settings(self) -> dict[str, str]:
        """What the environment of a program says that tells it of its crash."""
        return {"WHOCALL_CRASH_RECEIVER": str(self.socket)}

    def taken(self, suffix: str) -> list[Path]:
        """The files that it has kept, which are gone then for the next question."""
        found = sorted(self.store.glob(f"*{suffix}"))
        for each in found:
            each.rename(each.with_suffix(each.suffix + ".taken"))
        return [each.with_suffix(each.suffix + ".taken") for each in found]

    def reports(self) -> list[dict[str, Any]]:
        """Those as JSON, since the last question."""
        return [json.loads(path.read_text()) for path in self.taken(".json")]

    def end(self) -> tuple[int, str]:
        """Its status and what it has said."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        return self.process.returncode, self.said.read_text()


@contextlib.contextmanager
def receiver(folder: Path, *words: str) -> Iterator[Running]:
    """Starts one and waits until it listens."""
    socket, store = folder / "crashes.sock", folder / "store"
    command = [sys.executable, WHOCALL, "receive", "--socket", socket, "-o", store, *words]
    with (folder / "said").open("w") as said:
        process = subprocess.Popen(
            list(map(str, command)), stdout=subprocess.PIPE, stderr=said, text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
        )  # fmt: skip
    try:
        assert process.stdout is not None
        assert str(socket) in process.stdout.readline()
        yield Running(process, socket, store)
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


def wait_until(happened: Any, what: str) -> None:
    """Raises TimeoutError, with what was waited for."""
    until = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > until:
            raise TimeoutError(what)
        time.sleep(0.01)
