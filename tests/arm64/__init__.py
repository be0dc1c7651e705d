"""whocall on AArch64 machines, shown on one that is none.

In a root of Debian's arm64 packages qemu-user runs what the distribution's cross compiler built.
`scripts/arm64` does all of it.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""Of the source tree."""
BUILD = ROOT / "build" / "arm64"
"""Where the cross build lies."""


class Arm64Error(Exception):
    """Something that the campaign needs cannot be had here."""
