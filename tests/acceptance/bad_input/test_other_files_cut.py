"""Files beside a core that become shorter while they are read: archives, lists of names, PE files.
A mapped file's bytes are gone then, which would end the process.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from acceptance.bad_input.bombs import archives, pe_files, symbol_files
from acceptance.helpers.broken_files import SCRIPT

ROUNDS = 6
KINDS: dict[str, tuple[Callable[[Path], list[list[str]]], str]] = {
    "archive": (archives.symbols_packed_once_for_all, "base.apk"),
    "symbol file": (symbol_files.calls_of_one_function, "libgone.so.sym"),
    "PE file": (pe_files.symbols_of_one_name, "program.exe"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_cut_at_random_moments(kind: str, tmp_path: Path) -> None:
    make, name = KINDS[kind]
    command = make(tmp_path)[0]
    whole = (tmp_path / name).read_bytes()
    begin = time.monotonic()
    chance, took = random.Random(11), 0.0
    for number in range(ROUNDS):
        (tmp_path / name).write_bytes(whole)
        begin = time.monotonic()
        with subprocess.Popen(
            [sys.executable, str(SCRIPT), *command], stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, env={**os.environ, "WHOCALL_CACHE": "off"},
        ) as reader:  # fmt: skip
            if number > 0:  # the first tells how long it takes
                time.sleep(chance.uniform(0.2, 1.0) * took)
                os.truncate(tmp_path / name, chance.choice((0, 100, len(whole) // 2)))
            _, err = reader.communicate(timeout=120)
        took = took or time.monotonic() - begin
        assert "Traceback" not in err, err[-2000:]
        assert reader.returncode in (0, 1), err[-2000:]
