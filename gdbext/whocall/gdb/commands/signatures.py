"""`whocall signatures` in gdb."""

from __future__ import annotations

from pathlib import Path

from whocall.core.signatures import write_signatures
from whocall.frontend.options import SIGNATURES
from whocall.gdb.host.output import write


def run(line: str) -> None:
    """Writes a file of signatures."""
    parsed = SIGNATURES.parse(line)
    archives = [str(Path(path).expanduser()) for path in parsed.arguments]
    output = parsed.values.get("output", "")
    write(write_signatures(archives, str(Path(output).expanduser()) if output else ""))
