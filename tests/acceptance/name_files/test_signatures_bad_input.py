"""Damaged, truncated and foreign signature files and libraries: a sentence each, never a crash and
never a name that is not there.
"""

from __future__ import annotations

import random
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from oracles.tools import run

from acceptance.helpers.name_twins import stripped
from acceptance.name_files import signature_programs as programs
from whocall import Error
from whocall.base.native_module import native
from whocall.cli import main as cli

OBJECT = r"""
#include <string.h>
extern int other(const char *);
int first(int n) { return other("first") * n + n / 3; }
int second(const char *s) { return (int)strlen(s) + first(7) * other("second"); }
"""
LONG = "a_member_with_a_name_that_is_too_long_for_its_header.o"


@pytest.fixture(name="library")
def small_library(tmp_path: Path) -> Path:
    """A static library of two members, one with a long name."""
    for name in ("short.o", LONG):
        command = ["gcc", "-O2", "-c", "-x", "c", "-", "-o", str(tmp_path / name)]
        source = OBJECT if name == "short.o" else OBJECT.replace("first", "third").replace(
            "second", "fourth")  # fmt: skip
        subprocess.run(command, input=source, text=True, check=True)
    library = tmp_path / "libsmall.a"
    run(["ar", "rcs", str(library), str(tmp_path / "short.o"), str(tmp_path / LONG)])
    return library


def complaint(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> str:
    """The one sentence of a command that fails."""
    assert cli.main(arguments) == 1
    said = capfd.readouterr().err
    assert re.fullmatch(r"whocall: .+: .+\n", said), said
    return said


def test_names_of_members_are_kept(library: Path) -> None:
    contents, summary, remarks = native.build_signatures([str(library)])
    assert summary == {
        "arch": "x86_64", "members": 2, "sections": 2, "functions": 4, "builds": 0,
    }  # fmt: skip
    assert remarks == []
    for name in ("short.o", LONG, "libsmall.a", "first", "fourth"):
        assert name.encode() + b"\0" in contents


def test_archives_that_are_none(
    library: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    text = tmp_path / "text.a"
    text.write_text("no archive")
    thin = tmp_path / "thin.a"
    run(["ar", "rcsT", str(thin), str(tmp_path / "short.o")])
    empty = tmp_path / "empty.a"
    run(["ar", "rcs", str(empty)])
    cut = tmp_path / "cut.a"
    cut.write_bytes(library.read_bytes()[:-200])
    said = {
        "absent": complaint(["signatures", str(tmp_path / "absent.a"), "-o", out], capfd),
        "text": complaint(["signatures", str(text), "-o", out], capfd),
        "thin": complaint(["signatures", str(thin), "-o", out], capfd),
        "empty": complaint(["signatures", str(empty), "-o", out], capfd),
        "cut": complaint(["signatures", str(cut), "-o", out], capfd),
        "mixed": complaint(
            ["signatures", str(library), programs.LIBRARIES["glibc32"], "-o", out], capfd
        ),
        "place": complaint(["signatures", str(library), "-o", "/nonexistent/out"], capfd),
    }
    assert "cannot be opened" in said["absent"]
    assert "is no static library" in said["text"]
    assert "is a thin archive" in said["thin"]
    assert "has no code" in said["empty"]
    assert "is cut off" in said["cut"]
    assert "has code for i386" in said["mixed"]
    assert "cannot be written" in said["place"]
    assert not Path(out).exists()
    assert not list(tmp_path.glob(".out*"))


def test_members_that_are_no_object_files_are_counted(library: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("notes")
    run(["ar", "rs", str(library), str(notes)])
    _, summary, remarks = native.build_signatures([str(library)])
    assert summary["members"] == 2
    assert [remark for remark in remarks if "1 of 3 members are no object files" in remark]


@pytest.fixture(scope="module", name="musl")
def musl_signatures(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A stripped program and the file that recognises what it took from musl."""
    directory = tmp_path_factory.mktemp("musl")
    twin = programs.build(directory, "musl", "-O2")
    file = directory / "signatures"
    file.write_bytes(native.build_signatures([programs.LIBRARIES["musl"]])[0])
    return stripped(twin), file


def test_signature_files_that_are_none(
    musl: tuple[Path, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bare, good = musl
    contents = good.read_bytes()
    at = contents.index(b"\n") + 1  # the version
    broken = {
        "cannot be opened": None,
        "is no signature file": b"text",
        "of version 77": contents[:at] + struct.pack("<I", 77) + contents[at + 4 :],
        "is a damaged signature file": contents[:-1],
        " is a damaged signature file": contents[: at + 6],
        "  is a damaged signature file": contents[:9000] + b"\1\2\3" + contents[9003:],
        "for LoongArch, an instruction set": contents[: at + 4] + b"\2\1\4\0" + contents[at + 8 :],
    }
    for reason, bytes_of_file in broken.items():
        file = tmp_path / "bad"
        file.unlink(missing_ok=True)
        if bytes_of_file is not None:
            file.write_bytes(bytes_of_file)
        said = complaint(["functions", str(bare), "--signatures", str(file)], capfd)
        assert reason.strip() in said, said


def test_files_for_another_instruction_set_say_so(
    musl: tuple[Path, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "i386"
    file.write_bytes(native.build_signatures([programs.LIBRARIES["glibc32"]])[0])
    assert cli.main(["symbol", str(musl[0]), "401030", "--signatures", str(file)]) == 0
    assert "The signature files are for i386" in capfd.readouterr().err


def resealed(contents: bytes) -> bytes:
    """The contents with the check sum that belongs to them, so that what is wrong is not seen."""
    head = contents.index(b"\n") + 1 + 4 + 4 + 7 * 4
    total, mask = 0xCBF29CE484222325, (1 << 64) - 1
    tables = contents[head + 8 :]
    for at in range(0, len(tables), 8):
        word = int.from_bytes(tables[at : at + 8], "little")
        total = ((total ^ word) * 0x100000001B3) & mask
        total ^= total >> 29
    return contents[:head] + struct.pack("<Q", total) + tables


def test_mutated_signature_files(library: Path, musl: tuple[Path, Path], tmp_path: Path) -> None:
    """With a check sum that fits, so that the tables themselves are believed."""
    contents = native.build_signatures([str(library)])[0]
    assert resealed(contents) == contents
    chance = random.Random(4)
    file = tmp_path / "mutant"
    refused = 0
    for _ in range(1500):
        mutant = bytearray(contents)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(60, len(mutant))
            mutant[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        file.write_bytes(resealed(bytes(mutant)))
        try:
            programs.found_names(musl[0], [file])
        except Error as error:
            assert "damaged signature file" in str(error), error
            refused += 1
    assert 100 < refused < 1500


def test_mutated_libraries(library: Path, tmp_path: Path) -> None:
    contents = library.read_bytes()
    chance = random.Random(5)
    file = tmp_path / "mutant.a"
    for _ in range(1500):
        mutant = bytearray(contents)
        for _ in range(chance.randint(1, 6)):
            mutant[chance.randrange(8, len(mutant))] = chance.choice((0, 1, 0x80, 0xFF, 48, 57))
        file.write_bytes(mutant[: chance.choice((len(mutant), chance.randrange(len(mutant))))])
        try:
            native.build_signatures([str(file)])
        except native.Error as error:
            assert str(file) in str(error)


def test_mutated_programs(musl: tuple[Path, Path], tmp_path: Path) -> None:
    """Damage takes names away. It may take a reference that tells two alike apart, but rarely."""
    bare, signatures = musl
    true = programs.true_names(bare.with_name("twin"))
    contents = bare.read_bytes()
    chance = random.Random(6)
    mutant = tmp_path / "mutant"
    found = wrong = 0
    for _ in range(25):
        damaged = bytearray(contents)
        for _ in range(40):
            damaged[chance.randrange(0x1000, len(damaged))] ^= chance.randrange(1, 256)
        mutant.write_bytes(damaged)
        for address, name in programs.found_names(mutant, [signatures]).items():
            found += 1
            wrong += name not in true[address]
    assert found > 25 * 100
    assert wrong < found / 500


def test_in_gdb(library: Path, musl: tuple[Path, Path], tmp_path: Path) -> None:
    script = Path(__file__).resolve().parents[3] / "gdbext" / "whocall.py"
    bare, good = musl
    bad = tmp_path / "bad"
    bad.write_text("text")
    out = tmp_path / "out"
    gdb = shutil.which("gdb") or "gdb"
    setting = f"set whocall signature-files {bad}"
    trial = f"try: gdb.execute('{setting}')\nexcept gdb.error as error: print(error)"
    commands = [
        f"source {script}",
        f"whocall signatures {library} -output {out}",
        f"set whocall signature-files {good}:{out}",
        f"python {trial}",
        "show whocall signature-files",
        "starti",
        "whocall functions printf_core",
    ]
    words = [word for command in commands for word in ("-ex", command)]
    finished = subprocess.run(
        [gdb, "-nx", "-q", "-batch", *words, str(bare)],
        capture_output=True,
        text=True,
        check=False,
        env=programs.environment() | {"PLACE": "99"},
    )
    assert f"{out}: 4 functions of 2 object files (x86_64)" in finished.stdout
    assert "is no signature file" in finished.stdout
    assert f'"{good}:{out}"' in finished.stdout
    assert re.search(r" signature +printf_core\?", finished.stdout), finished.stdout
    assert out.read_bytes() == native.build_signatures([str(library)])[0]
