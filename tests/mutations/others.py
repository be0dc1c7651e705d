"""Files of other kinds than cores and programs, whole, for damage by bytes and words."""

from __future__ import annotations

import gzip
import lzma
import subprocess
import sys
import tempfile
from pathlib import Path

from faults.inputs import built_archive, recorded
from fuzz import reader_seeds

from mutations.campaign import Copies

SCRIPT = Path(__file__).resolve().parents[2] / "gdbext" / "whocall.py"
SEVERAL = 3  # originals whose cores are packed and whose backtraces are logs
LARGEST = 4 << 20


def _said(*words: str | Path) -> bytes:
    done = subprocess.run(
        [sys.executable, SCRIPT, *words], capture_output=True, check=False, stdin=subprocess.DEVNULL
    )
    return done.stdout


def others(copies: Copies, names: list[str]) -> dict[str, list[bytes]]:
    """By kind."""
    found: dict[str, list[bytes]] = {
        "dump": [
            reader_seeds.minidump(),
            reader_seeds.microdump(),
            reader_seeds.apport(),
            *reader_seeds.seeds("arrival"),
        ],
        "log": [*reader_seeds.seeds("log")],
        "names": [],
        "archive": [],
        "signatures": [],
        "trace": [],
    }
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        found["trace"].append(recorded(folder).read_bytes())
        library = built_archive(folder)
        found["archive"] += [library.read_bytes(), (folder / "sum.o").read_bytes()]
        _said("signatures", library, "-o", folder / "made.sig")
        found["signatures"].append((folder / "made.sig").read_bytes())
    for name in names[:SEVERAL]:
        core, program = copies.files(name)
        data = core.read_bytes()
        if len(data) <= LARGEST:
            found["dump"] += [gzip.compress(data, 1), lzma.compress(data, preset=0)]
        found["log"].append(_said("bt", core, *([program] if program else []), "--all"))
        if program is not None:
            table = subprocess.run(["nm", "-D", program], capture_output=True, check=False).stdout
            found["names"].append(table)
            found["names"].append(_said("functions", program, "--json"))
    return {kind: [each for each in files if each] for kind, files in found.items()}
