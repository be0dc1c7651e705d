"""What symbols cost in memory: a million of them against libbfd, and those that no frame needs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from corpus.crash import crash

from acceptance.helpers import function_files
from acceptance.helpers.peak_memory import peak_of
from acceptance.symbol_tables import million_symbols
from whocall import open_core
from whocall.report.tables.modules import all_facts

# Enough that reading them shows.
UNUSED = 100_000
TABLE_BYTES = 24 * UNUSED


@pytest.fixture(scope="module")
def million(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of a million functions."""
    file = tmp_path_factory.mktemp("symbols") / "million"
    function_files.write(file, million_symbols.COUNT)
    return file


def test_a_quarter_of_libbfd(million: Path, tmp_path: Path) -> None:
    """After opening a million symbols, and at the worst moment of it."""
    symbols, after, peak = million_symbols.ours(million)
    theirs = million_symbols.libbfd(million, tmp_path)
    print(f"KiB after opening and at the peak: {after}, {peak}; libbfd: {theirs[1]}, {theirs[2]}")
    assert symbols == theirs[0] == million_symbols.COUNT
    assert after <= theirs[1] / 4
    assert peak <= theirs[2] / 4


@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.parametrize("regex", ["", "_", "77"])
def test_lists_of_a_million(million: Path, form: list[str], regex: str) -> None:
    """All of them, all by a regular expression, or some: none is kept as an object of Python."""
    peak = peak_of("functions", *form, million, *([regex] if regex else []))
    print(f"{peak >> 10} MiB", end="")
    assert peak < 200 << 10


def resident(file: Path) -> int:
    """How much of a file this process has read through its mappings, in bytes."""
    total, counts = 0, False
    with Path("/proc/self/smaps").open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            first = line.split(maxsplit=1)[0]
            if "-" in first:
                counts = line.rstrip().endswith(str(file))
            elif counts and first == "Rss:":
                total += 1024 * int(line.split()[1])
    return total


@pytest.fixture
def core(tmp_path: Path) -> Path:
    """Of a program that crashes while a library with many symbols is loaded and not used."""
    library, program = tmp_path / "libunused.so", tmp_path / "program"
    names = "".join(
        f".type unused_{at}, @function\nunused_{at}: .byte 144\n.size unused_{at}, 1\n"
        for at in range(UNUSED)
    )
    (tmp_path / "unused.s").write_text(
        f'.text\n{names}.globl start_of\nstart_of: ret\n.section .note.GNU-stack, "", @progbits\n'
    )
    (tmp_path / "program.c").write_text(
        "#include <stdlib.h>\n"
        "__attribute__((noinline)) void deeper(void) { abort(); }\n"
        "int main(void) { deeper(); return 0; }\n"
    )
    for command in (
        ["gcc", "-shared", "-nostdlib", "-o", library, tmp_path / "unused.s"],
        ["gcc", "-O0", "-o", program, tmp_path / "program.c", "-Wl,--no-as-needed", library],
    ):
        subprocess.run(command, check=True)
    return crash(program, tmp_path).core


def test_only_modules_with_frames_are_read(core: Path) -> None:
    """A backtrace leaves the symbols of other modules alone; `whocall modules` reads them all."""
    library = core.parent.parent / "libunused.so"
    with open_core(str(core)) as image:
        assert library.name in {Path(each.path).name for each in image.modules}
        chain = image.backtrace(0)
        assert "deeper" in [frame.function for frame in chain.frames]
        assert 0 < resident(library) < TABLE_BYTES / 4
        all_facts(image)
        assert resident(library) > TABLE_BYTES
