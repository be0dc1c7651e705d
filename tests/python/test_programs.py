"""Programs that whocall starts end with it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from whocall.base import programs


def _waits(folder: Path) -> list[programs.Argument]:
    """The arguments of a shell that tells its number and waits."""
    script = folder / "waits.sh"
    script.write_text(f"echo $$ >{folder}/new; mv {folder}/new {folder}/number; exec sleep 1000\n")
    return [programs.path(script)]


def test_one_that_nobody_holds_is_ended(tmp_path: Path) -> None:
    child = programs.start("/bin/sh", _waits(tmp_path))
    number = child.pid
    os.kill(number, 0)
    del child
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_an_interrupt_while_it_is_started_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The moment is that in which the new process is there, and Popen's own work is not done."""
    started: list[int] = []
    begun = subprocess.Popen.__init__

    def interrupted(self: Any, *given: Any, **named: Any) -> None:
        begun(self, *given, **named)
        started.append(self.pid)
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "__init__", interrupted)
    try:
        programs.start("/bin/sh", _waits(tmp_path))
    except KeyboardInterrupt:
        pass
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)
