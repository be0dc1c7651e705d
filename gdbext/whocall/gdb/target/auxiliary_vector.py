"""The auxiliary vector of the selected inferior, local or remote: gdb tells it in words only."""

from __future__ import annotations

import re

import gdb

from whocall.gdb.host import console

AT_ENTRY = 9  # where the program begins
AT_SYSINFO_EHDR = 33  # the vDSO's ELF header


def auxiliary_vector() -> dict[int, int]:
    """What the kernel told the program, by AT_ number; empty when the target does not tell."""
    try:
        said = console.said("info auxv")
    except gdb.error:
        return {}
    vector: dict[int, int] = {}
    for line in said.splitlines():
        match = re.match(r'(\d+)\s+(?:AT_\w+|\?\?\?).*?\s(0x[0-9a-f]+|\d+)(?:\s+".*")?\s*$', line)
        if match is not None:
            vector[int(match.group(1))] = int(match.group(2), 0)
    return vector
