"""What a command of the command line takes in memory at its worst moment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import whocall

# Not what the kernel tells of children at their end: that counts the parent that they begin as.
_PROGRAM = """
import sys
from whocall.cli.main import main
status = main(sys.argv[1:])
with open("/proc/self/status") as lines:
    fields = dict(line.split(":", 1) for line in lines)
print(fields["VmHWM"].split()[0], file=sys.stderr)
sys.exit(status)
"""


def peak_of(*arguments: str | Path) -> int:
    """KiB, those pages of mapped files included that were in memory."""
    package = str(Path(whocall.__file__).resolve().parents[1])
    program = f"import sys; sys.path.insert(0, {package!r})\n{_PROGRAM}"
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=True,
        text=True,
    )
    return int(ran.stderr.split()[-1])
