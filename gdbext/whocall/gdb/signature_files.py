"""`whocall signatures` in gdb."""

from __future__ import annotations

from pathlib import Path

from whocall.gdb.output import write
from whocall.options import SIGNATURES
from whocall.signatures import write_signatures


def run(line: str) -> None:
    """Writes a file of signatures."""
    parsed = SIGNATURES.parse(line)
    archives = [str(Path(path).expanduser()) for path in parsed.arguments]
    output = parsed.values.get("output", "")
    write(write_signatures(archives, str(Path(output).expanduser()) if output else ""))
