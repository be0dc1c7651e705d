"""What the commands answer on a core, and the truth to hold it against."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
from programs import Crash
from sessions import SCRIPT, batch

SCHEMAS = SCRIPT.parent / "whocall" / "schema"


def document(command: str, crash: Crash, *before: str) -> dict[str, Any]:
    """The JSON that a command prints, checked against the schema that it names."""
    said = batch([*before, "echo \\n{json}\\n", command], [crash.exe, crash.core])
    assert said.status == 0, said.err
    found: dict[str, Any] = json.loads(said.out.split("{json}\n", 1)[1])
    word = re.fullmatch(r"whocall\.(\w+)/1", found["schema"])
    assert word is not None
    schema = json.loads((SCHEMAS / f"{word.group(1)}-1.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(found)
    return found


def text(command: str, crash: Crash, *before: str) -> list[str]:
    """The lines that a command prints, and those before it."""
    said = batch(["echo \\n{text}\\n", *before, command], [crash.exe, crash.core])
    assert said.status == 0, said.err
    return said.out.split("{text}\n", 1)[1].splitlines()


def truth(crash: Crash) -> list[int]:
    """The pcs of the true chain: gdb's, with the symbols and unwind tables of the twin."""
    walk = (
        "python\nf = gdb.newest_frame()\nwhile f:\n"
        "  if f.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME): print('pc', f.pc())\n"
        "  f = f.older()"
    )
    said = batch(["set backtrace past-main on", walk], [crash.twin, crash.core])
    return [int(pc) for pc in re.findall(r"^pc (\d+)$", said.out, re.MULTILINE)]


def pcs(thread: dict[str, Any]) -> list[int]:
    return [int(frame["pc"], 16) for frame in thread["frames"] if not frame["inlined"]]
