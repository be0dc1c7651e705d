"""Names that lie outside the stripped file's own symbol tables: in separate debug files and in
.gnu_debugdata. The oracle is nm on the unstripped twin.
"""

from __future__ import annotations

import lzma
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from oracles.tools import run

from acceptance.helpers import name_twins
from acceptance.helpers.function_tables import make_unstripped
from whocall import Search, open_process, open_symbols
from whocall.base.native_module import native
from whocall.report.tables.modules import all_facts


@pytest.fixture
def twin(tmp_path: Path) -> Path:
    """A small program with local functions."""
    return name_twins.build(tmp_path)


def build_id(path: Path) -> str:
    """As the file says."""
    return open_symbols(str(path)).build_id


def local_names(path: Path, *directories: Path) -> dict[str, str]:
    """Name to source of what only .symtab of the twin has."""
    table = open_symbols(
        str(path), search=Search(debug_directories=[str(each) for each in directories])
    )
    symbols = (table[at] for at in range(len(table)))
    wanted = ("depth", "middle", "early", "late", "main")
    return {each.name: each.source for each in symbols if each.name in wanted}


@contextmanager
def remarks(program: Path, *directories: Path) -> Iterator[str]:
    """What `whocall modules` says of a program that has stopped itself."""
    with subprocess.Popen([program]) as process:
        try:
            places = [str(each) for each in directories]
            with open_process(process.pid, search=Search(debug_directories=places)) as image:
                facts = [each for each in all_facts(image) if each.module.is_executable]
                assert len(facts) == 1
                yield facts[0].trouble
        finally:
            process.kill()


def all_from(source: str) -> dict[str, str]:
    """Every local name, from one source."""
    return dict.fromkeys(("depth", "middle", "early", "late", "main"), source)


def test_without_companions_nothing_is_known(twin: Path) -> None:
    assert local_names(name_twins.stripped(twin), twin.parent / "empty") == {}


def test_debug_file_by_build_id(twin: Path, tmp_path: Path) -> None:
    bare = name_twins.stripped(twin)
    root = tmp_path / "debug"
    name_twins.debug_file(twin, name_twins.build_id_path(root, build_id(bare)))
    assert local_names(bare, tmp_path / "empty", root) == all_from("debug-file")
    score = name_twins.score(
        open_symbols(str(bare), search=Search(debug_directories=[str(root)])), twin
    )
    assert not score.contradictions
    assert score.right == score.functions
    with remarks(bare, root) as sentence:
        assert sentence == ""


def test_debug_file_of_another_build_lends_no_names(twin: Path, tmp_path: Path) -> None:
    bare = name_twins.stripped(twin)
    root = tmp_path / "debug"
    other = tmp_path / "other"
    other.mkdir()
    foreign = name_twins.build(other, "-O2", "-DOTHER")
    assert build_id(foreign) != build_id(bare)
    name_twins.debug_file(foreign, name_twins.build_id_path(root, build_id(bare)))
    assert local_names(bare, root) == {}
    with remarks(bare, root) as sentence:
        assert build_id(foreign) in sentence
        assert build_id(bare) in sentence
        assert "lends no names" in sentence


@pytest.mark.parametrize("place", ["beside", "in .debug", "under the debug directory"])
@pytest.mark.parametrize("id_flag", ["--build-id", "--build-id=none"])
def test_debug_file_by_link(place: str, id_flag: str, tmp_path: Path) -> None:
    twin = name_twins.build(tmp_path, f"-Wl,{id_flag}")
    bare = name_twins.stripped(twin)
    root = tmp_path / "debug"
    directory = {
        "beside": tmp_path,
        "in .debug": tmp_path / ".debug",
        "under the debug directory": root / str(tmp_path.resolve()).lstrip("/"),
    }[place]
    debug = name_twins.debug_file(twin, directory / "twin.debug")
    run(["objcopy", f"--add-gnu-debuglink={debug}", str(bare)])
    assert local_names(bare, root) == all_from("debug-file")
    # One byte of what nobody reads here: only the check sum can tell.
    contents = bytearray(debug.read_bytes())
    contents[contents.index(b"GNU C")] ^= 1
    debug.write_bytes(contents)
    assert local_names(bare, root) == {}
    with remarks(bare, root) as sentence:
        assert "check sum" in sentence
        assert str(debug) in sentence


def test_link_to_the_file_itself_and_to_rubbish(twin: Path, tmp_path: Path) -> None:
    bare = name_twins.stripped(twin)
    (tmp_path / "rubbish").write_bytes(b"\x7fELF" + bytes(20))
    for link in (b"bare\0\0\0\0\0\0\0\0", b"rubbish\0\0\0\0\0", b"../twin\0\0\0\0\0", b"", b"x",
                 b"unending name", b"short\0\0"):  # fmt: skip
        file = Path(tmp_path / "linked")
        file.write_bytes(bare.read_bytes())
        name_twins.add_section(file, ".gnu_debuglink", link)
        assert local_names(file, tmp_path) == {}, link


@pytest.fixture(scope="session")
def unstripped() -> tuple[Path, ...]:
    """Real code with all its symbols."""
    return make_unstripped()


def test_gnu_debugdata(twin: Path) -> None:
    bare = name_twins.stripped(twin)
    name_twins.add_section(bare, ".gnu_debugdata", name_twins.mini_debug_info(twin))
    assert local_names(bare) == all_from("gnu-debugdata")
    score = name_twins.score(open_symbols(str(bare), search=Search(debug_directories=[])), twin)
    assert not score.contradictions


def test_gnu_debugdata_of_real_code(unstripped: tuple[Path, ...], tmp_path: Path) -> None:
    """Its names are those of the twin, all of them."""
    for path in unstripped:
        twin = tmp_path / "twin"
        twin.write_bytes(path.read_bytes())
        bare = name_twins.stripped(twin)
        packed = name_twins.mini_debug_info(twin)
        name_twins.add_section(bare, ".gnu_debugdata", packed)
        score = name_twins.score(open_symbols(str(bare), search=Search(debug_directories=[])), twin)
        print(
            f"\n{path.name}: {len(packed)} bytes, {score.share():.1%} of {score.functions}", end=""
        )
        assert not score.contradictions, (path, score.contradictions[:3])
        assert score.share() > 0.95, path


@pytest.mark.parametrize(
    "damage", ["cut", "flipped", "empty", "no xz", "no ELF", "bomb", "32 bits"]
)
def test_damaged_gnu_debugdata(damage: str, twin: Path, tmp_path: Path) -> None:
    packed = name_twins.mini_debug_info(twin)
    middle = len(packed) // 2
    if damage == "32 bits":
        directory = tmp_path / "other"
        directory.mkdir()
        packed = name_twins.mini_debug_info(name_twins.build(directory, "-m32"))
    contents = {
        "cut": packed[:-20],
        "flipped": packed[:middle] + bytes([packed[middle] ^ 0x55]) + packed[middle + 1 :],
        "empty": b"",
        "no xz": b"rubbish" * 100,
        "no ELF": lzma.compress(b"rubbish" * 100),
        "bomb": lzma.compress(bytes(1 << 29), preset=0),
        "32 bits": packed,
    }[damage]
    bare = name_twins.stripped(twin)
    name_twins.add_section(bare, ".gnu_debugdata", contents)
    assert local_names(bare) == {}
    assert "depth" not in {each[2] for each in functions_of(bare)}
    with remarks(bare) as sentence:
        assert ".gnu_debugdata" in sentence


def functions_of(path: Path) -> list[tuple[int, int, str, str, bool, list[str], bool]]:
    """The whole function table."""
    table = native.functions(str(path))
    return [table[at] for at in range(len(table))]
