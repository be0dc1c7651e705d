"""Where a library was loaded, by return addresses alone: objdump's calls of each C library, moved.

Sixteen calls from anywhere in it stand for a stack.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from oracles.tools import lines

from ports.sets import SETS
from whocall.base.elf_head import read_elf_head
from whocall.resolve.load_address import load_bias

BIAS = 0x7F3A12345000 % (1 << 31)
CALLS = {  # instructions, and how far behind their beginning calls come back
    "x86_64": (r"\s(?:call|bnd call)\s", 0),
    "i386": (r"\scall\s", 0),
    "aarch64": (r"\tblr?\t", 4),
    "arm": (r"\tblx?\t", 4),
    "mips": (r"\t(?:jalr|jal|bal)\t", 8),
    "mipsel": (r"\t(?:jalr|jal|bal)\t", 8),
    "mips64el": (r"\t(?:jalr|jal|bal)\t", 8),
}
HOSTS = {"x86_64": "/lib/x86_64-linux-gnu", "i386": "/lib32"}


def return_addresses(name: str, library: Path) -> list[int]:
    """Link addresses behind calls, as objdump disassembles them."""
    called, behind = CALLS[name]
    tool = "objdump" if name in HOSTS else f"{SETS[name].triple}-objdump"
    found: list[int] = []
    last_was_call = False
    for line in lines([tool, "-d", "--no-show-raw-insn", str(library)]):
        match = re.match(r" +([0-9a-f]+):\t", line)
        if match is None:
            continue
        address = int(match[1], 16)
        if last_was_call and not behind:
            found.append(address)
        last_was_call = re.search(called, line[match.end() - 1 :]) is not None
        if last_was_call and behind:
            found.append(address + behind)
        if len(found) >= 4000:
            break
    return found


@pytest.mark.parametrize("name", CALLS)
def test_calls_tell_it(name: str) -> None:
    folder = HOSTS[name] if name in HOSTS else f"{SETS[name].sysroot}/lib"
    library = Path(folder) / "libc.so.6"
    calls = return_addresses(name, library)
    head = read_elf_head(str(library))
    assert head is not None and len(calls) > 1000
    choice = random.Random(3)
    told = [load_bias(head, [BIAS + each for each in choice.sample(calls, 16)]) for _ in range(20)]
    assert set(told) <= {BIAS, None}
    assert told.count(BIAS) >= 15  # of what is data in the midst of code objdump has calls, too
