"""`whocall signatures` in gdb."""

from __future__ import annotations

from pathlib import Path

from whocall.base.output_file import write_bytes
from whocall.base.signatures import require_both
from whocall.gdb.host.output import write
from whocall.gdb.target.answering import answer_of_files
from whocall.shared_front_end.options import syntax


def run(line: str) -> None:
    """Writes a file of signatures."""
    parsed = syntax("signatures").parse(line)
    archives = [str(Path(path).expanduser()) for path in parsed.arguments]
    output = parsed.values.get("output", "")
    output = str(Path(output).expanduser()) if output else ""
    require_both(archives, output)
    found = answer_of_files("signatures.signatures", {"archives": archives, "output": output})
    write_bytes(output, *found.contents, private=False)
    write(map(str, found.result))


def run_elsewhere(line: str) -> None:
    """The same by another Python."""
    from whocall.base.programs import behind_dashes, option
    from whocall.gdb.commands.elsewhere import show

    parsed = syntax("signatures").parse(line)
    output = parsed.values.get("output", "")
    archives = [str(Path(path).expanduser()) for path in parsed.arguments]
    wanted = [option("--output", Path(output).expanduser().absolute())] if output else []
    show("signatures", [*wanted, *behind_dashes(*archives)])
