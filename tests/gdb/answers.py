"""What the commands answer on a core, and the truth to hold it against."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
from programs import Crash
from sessions import SCRIPT, Said, batch

SCHEMAS = SCRIPT.parent / "whocall" / "schema"


def checked(out: str) -> dict[str, Any]:
    """The JSON that a command printed, checked against the schema that it names."""
    found: dict[str, Any] = json.loads(out)
    word = re.fullmatch(r"whocall\.(\w+)/(\d+)", found["schema"])
    assert word is not None
    schema = json.loads((SCHEMAS / f"{word.group(1)}-{word.group(2)}.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(found)
    return found


@functools.cache
def _session(commands: tuple[str, ...], exe: Path, core: Path) -> Said:
    return batch(commands, [exe, core])


def _after(mark: str, crash: Crash, *commands: str) -> str:
    """What the last command prints; a core does not change, so it is asked once."""
    said = _session((*commands[:-1], f"echo \\n{mark}\\n", commands[-1]), crash.exe, crash.core)
    assert said.status == 0, said.err
    return said.out.split(f"{mark}\n", 1)[1]


def document(command: str, crash: Crash, *before: str) -> dict[str, Any]:
    """What a command prints as JSON."""
    return checked(_after("{json}", crash, *before, command))


def text(command: str, crash: Crash) -> list[str]:
    """The lines that a command prints."""
    return _after("{text}", crash, command).splitlines()


def truth(crash: Crash) -> list[int]:
    """The pcs of the true chain: gdb's, with the symbols and unwind tables of the twin."""
    walk = (
        "python\nf = gdb.newest_frame()\nwhile f:\n"
        "  if f.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME): print('pc', f.pc())\n"
        "  f = f.older()"
    )
    said = _session(("set backtrace past-main on", walk), crash.twin, crash.core)
    return [int(pc) for pc in re.findall(r"^pc (\d+)$", said.out, re.MULTILINE)]


def pcs(thread: dict[str, Any]) -> list[int]:
    return [int(frame["pc"], 16) for frame in thread["frames"] if not frame["inlined"]]
