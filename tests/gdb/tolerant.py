"""Sessions of many commands, each of which may fail: what each says is found again."""

from __future__ import annotations

from collections.abc import Sequence

from programs import Crash
from sessions import Said, batch

_TOLERANT = (
    "python\ndef tried(c):\n  try: gdb.execute(c)\n  except gdb.error as e: print(f'E: {e}')"
)


def marked(commands: Sequence[str]) -> list[str]:
    return [_TOLERANT, *(f"python print('<{{'); tried({command!r})" for command in commands)]


def session(crash: Crash, commands: Sequence[str], **more: str) -> Said:
    said = batch(commands, [crash.exe, crash.core], **more)
    assert said.status == 0, said
    assert "Traceback" not in said.err
    return said
