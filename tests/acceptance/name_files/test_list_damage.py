"""Given files that are no lists, damaged lists, and one that is far too long."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from oracles.tools import run

from acceptance.helpers import name_twins
from acceptance.name_files.given_lists import PRINTED, SOURCE, remark, score, search
from whocall import open_symbols

BAD: dict[str, bytes] = {
    "empty": b"",
    "blank": b"\n \n\t\n",
    "nul": bytes(100),
    "utf-16": "0000000000001136 T main\n".encode("utf-16"),
    "prose": b"Dear reader,\nno names here.\n",
    "elf": b"\x7fELF" + bytes(60),
    "gzip": b"\x1f\x8b\x08" + bytes(60),
    "json cut": b'{"functions": [{"name": "mai',
    "json deep": b"[" * 100000,
    "json bad utf-8": b'[{"name": "\xff\xfe", "start": 4406}]',
    "jitdump": b"DTiJ" + bytes(60),
}


@pytest.mark.parametrize("kind", BAD)
def test_files_that_are_no_lists(kind: str, twin: Path, tmp_path: Path) -> None:
    bare = name_twins.stripped(twin)
    path = tmp_path / "given"
    path.write_bytes(BAD[kind])
    said = remark(bare, str(path))
    assert said.startswith(f"{path} ")
    assert said.endswith(".")
    assert said.count(". ") >= 1  # what to do
    assert not score(bare, twin, str(path)).by_source


def test_what_is_no_file(twin: Path, tmp_path: Path) -> None:
    bare = name_twins.stripped(twin)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (fifo, tmp_path, tmp_path / "absent", Path("/dev/null")):
        assert remark(bare, str(path)).startswith(f"{path} ")


def mutated(text: bytes, chance: random.Random) -> bytes:
    """Bytes replaced, doubled, cut out, cut off."""
    data = bytearray(text)
    for _ in range(chance.randrange(1, 30)):
        at = chance.randrange(max(len(data), 1))
        kind = chance.randrange(5)
        if kind == 0 and data:
            data[at] = chance.randrange(256)
        elif kind == 1:
            data[at:at] = data[at : at + chance.randrange(200)]
        elif kind == 2:
            del data[at : at + chance.randrange(100)]
        elif kind == 3:
            data[at : at + 1] = chance.choice(
                [b"\0", b"\n", b'"', b"{", b"0xffffffffffffffff", b"f" * 40, b"\t", b"|", b"-1"]
            )
        elif len(data) > 100 and chance.randrange(8) == 0:
            del data[at + 50 :]
    return bytes(data)


@pytest.mark.parametrize("form", [*PRINTED, "map bfd", "map lld"])
def test_damaged_lists_do_no_harm(form: str, tmp_path: Path) -> None:
    """Neither crashes nor names that stand nowhere in the list."""
    link = tmp_path / "map"
    linker = form.partition(" ")[2] if form.startswith("map") else "bfd"
    twin = name_twins.build(
        tmp_path, f"-Wl,-Map={link}", f"-fuse-ld={linker}", "-ffunction-sections", source=SOURCE
    )
    bare = name_twins.stripped(twin)
    text = link.read_bytes() if form.startswith("map") else PRINTED[form](twin).encode()
    path = tmp_path / "list"
    chance = random.Random(form)
    for _ in range(40):
        path.write_bytes(mutated(text, chance))
        table = open_symbols(str(bare), search=search(str(path)))
        for at in range(len(table)):
            assert table[at].end >= table[at].start


def test_a_list_of_a_million_names(tmp_path: Path) -> None:
    """Stays linear: most names are elsewhere, and one line is very long."""
    twin = name_twins.build(tmp_path, source=SOURCE)
    bare = name_twins.stripped(twin)
    text = run(["nm", str(twin)])
    many = "".join(f"{at:016x} T f{at}\n" for at in range(0x10000000, 0x10000000 + (16 << 20), 16))
    path = tmp_path / "list"
    path.write_text(text + many + "0000000000001139 T " + "x" * 5_000_000)
    assert not score(bare, twin, str(path)).contradictions[1:]
