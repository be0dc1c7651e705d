"""Names of library functions by FLIRT files, which the tests make of static libraries. The oracle
is nm on the unstripped twin.
"""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from acceptance.helpers.name_twins import stripped
from acceptance.helpers.scoreboard import Scoreboard
from acceptance.name_files import flirt_files
from acceptance.name_files import signature_programs as programs
from acceptance.name_files.test_signatures import OWN
from whocall import Error
from whocall.base.file_search import Search
from whocall.base.native_module import native
from whocall.base.process_image import open_symbols
from whocall.cli import main as cli

TITLE = "functions of libraries in static, stripped programs, by FLIRT files"
FORMS = {
    "pat": lambda modules, _: flirt_files.text_of(modules).encode(),
    "sig": lambda modules, processor: flirt_files.tree_of(modules, processor),
}
Made = Callable[[str, str], Path]


@pytest.fixture(scope="module", name="made")
def flirt_files_of_libraries(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """By library and form, made once."""
    folder = tmp_path_factory.mktemp("flirt")

    def make(library: str, form: str) -> Path:
        path = folder / f"{library}.{form}"
        if not path.exists():
            path.write_bytes(FORMS[form](*flirt_files.modules_of(programs.LIBRARIES[library])))
        return path

    return make


# What is right at least. Without references, as trees are, less is proved.
@pytest.mark.parametrize(
    ("library", "flags", "form", "share"),
    [
        ("glibc", "-O2", "pat", 0.67),
        ("glibc", "-O2", "sig", 0.64),
        ("glibc", "-O1 -static-pie", "pat", 0.67),
        ("musl", "-O2", "pat", 0.70),
        ("musl", "-Os", "sig", 0.62),
        ("glibc32", "-O2", "pat", 0.64),
        ("glibc32", "-O2", "sig", 0.57),
    ],
)
def test_all_functions(
    library: str,
    flags: str,
    form: str,
    share: float,
    made: Made,
    tmp_path: Path,
    scoreboard: Scoreboard,
) -> None:
    twin = programs.build(tmp_path, library, *flags.split())
    tally = programs.judge_all(twin, [made(library, form)], programs.library_names(library))
    table = scoreboard.table(TITLE, "program", "functions", "named %", "wrong")
    table.rows.append(
        (f"{library} {flags}, .{form}", tally.all, 100 * tally.share, len(tally.wrong))
    )
    assert not tally.wrong
    assert tally.share >= share


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("library", "foreign"), [("glibc", "musl"), ("musl", "glibc")])
def test_another_library_says_nothing_wrong(
    library: str, foreign: str, form: str, made: Made, tmp_path: Path
) -> None:
    twin = programs.build(tmp_path, library, "-O2")
    tally = programs.judge_all(twin, [made(foreign, form)], programs.library_names(foreign))
    assert not tally.wrong


@pytest.mark.parametrize("form", FORMS)
def test_programs_without_the_library_get_no_names(form: str, made: Made) -> None:
    """gnulib's copies in coreutils and others are code of the C library under other names."""
    names = ("bash", "cat", "find", "git", "ls", "nl", "openssl", "perl", "rm", "ssh-add", "true")
    files = [made("glibc", form), made("musl", form)]
    for path in filter(None, map(shutil.which, names)):
        assert not programs.found_names(Path(path), files), path


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("library", ["glibc", "musl", "glibc32"])
@pytest.mark.parametrize("flags", ["-Os", "-O2"])
def test_own_code_like_that_of_a_library(
    library: str, flags: str, form: str, made: Made, tmp_path: Path
) -> None:
    twin = programs.build(tmp_path, library, "-fno-builtin", *flags.split(), source=OWN)
    tally = programs.judge_all(twin, [made(library, form)], programs.library_names(library))
    assert not tally.wrong


def test_stacks_and_where_a_name_is_from(
    made: Made, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    twin = programs.build(tmp_path / "program", "glibc", "-O2")
    bare = stripped(twin)
    file = made("glibc", "pat")
    ours = programs.library_names("glibc")
    total = programs.Tally()
    for place in (0, 10, 12, 14, 22, 31, 35):
        core = programs.dump(bare, place, tmp_path / str(place))
        total += programs.judge_stacks(core, bare, twin, file, ours)
    assert not total.wrong
    assert total.right >= 12
    tree = made("glibc", "sig")
    place, name = next(iter(programs.found_names(bare, [tree]).items()))
    assert cli.main(["symbol", str(bare), f"{place:x}", "--signatures", str(tree)]) == 0
    said = capfd.readouterr().out
    assert f"{name}?" in said
    assert 'named by FLIRT signatures of "a library"' in said


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("version", range(5, 11))
def test_every_version(version: int, packed: bool, tmp_path: Path) -> None:
    modules, processor = flirt_files.modules_of(programs.LIBRARIES["musl"])
    path = tmp_path / "musl.sig"
    path.write_bytes(flirt_files.tree_of(modules, processor, version=version, packed=packed))
    assert native.signature_summary(str(path)) == {
        "library": "a library",
        "modules": len(modules),
        "functions": sum(len(module.names) for module in modules),
    }


def test_other_instruction_sets(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A tree says which one it is for, and how wide."""
    modules, _ = flirt_files.modules_of(programs.LIBRARIES["musl"])
    for number, (processor, bits) in enumerate([(13, 0), (7, 0), (72, 0), (0, 0x100)]):
        path = tmp_path / f"{number}.sig"
        path.write_bytes(flirt_files.tree_of(modules, processor, bits=bits))
        assert cli.main(["functions", "/bin/true", "--signatures", str(path)]) == 0
        said = capfd.readouterr().err
        assert "The signature files are for another instruction set, this file is not" in said


def refused(path: Path) -> str:
    """The one sentence on a file that is none."""
    with pytest.raises(Error) as caught:
        open_symbols("/bin/true", search=Search(signature_files=[str(path)]))
    return str(caught.value)


def test_damaged_files(tmp_path: Path) -> None:
    modules, processor = flirt_files.modules_of(programs.LIBRARIES["musl"])
    path = tmp_path / "musl.sig"
    for version in (4, 11):
        path.write_bytes(flirt_files.tree_of(modules, processor, version=version))
        assert f"is a FLIRT file of version {version}, and this whocall reads" in refused(path)
    for packed in (True, False):
        whole = flirt_files.tree_of(modules, processor, packed=packed)
        for size in (6, 20, 45, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:size])
            assert "is a damaged FLIRT file" in refused(path)
    # Half a gigabyte of zeros.
    packer = zlib.compressobj()
    zeros = [packer.compress(bytes(1 << 20)) for _ in range(512)]
    header = flirt_files.tree_of([], processor, packed=False)[:-1]
    flagged = header[:16] + b"\x10" + header[17:]
    path.write_bytes(b"".join([flagged, *zeros, packer.flush()]))
    assert "is a damaged FLIRT file" in refused(path)


def test_text_that_makes_no_sense_is_left_out(tmp_path: Path) -> None:
    modules, _ = flirt_files.modules_of(programs.LIBRARIES["musl"])
    lines = flirt_files.text_of(modules[:5]).splitlines()
    path = tmp_path / "some.pat"
    path.write_text(
        "\n".join(["; a remark", lines[0], "nonsense", lines[1][:40], lines[2], "---", lines[3]])
    )
    assert native.signature_summary(str(path))["modules"] == 2
