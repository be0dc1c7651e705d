"""Names of library functions by FLIRT files, which the tests make of static libraries. The oracle
is nm on the unstripped twin.
"""

from __future__ import annotations

import shutil
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from oracles.tools import run

from acceptance.helpers.name_twins import stripped
from acceptance.helpers.scoreboard import Scoreboard
from acceptance.name_files import flirt_files
from acceptance.name_files import signature_programs as programs
from acceptance.name_files.test_signatures import OWN
from acceptance.names.true_names import judge, truth_of
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
        ("musl", "-O2", "pat", 0.66),
        ("musl", "-Os", "sig", 0.61),  # 61.9 % with gcc 16
        ("glibc32", "-O2", "pat", 0.62),
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


FAMILY = r"""
#include <stdlib.h>
#include <string.h>
#define TABLE(name, key)                                                                      \
  struct name { size_t n, room; key *keys; unsigned char *used; };                            \
  struct name *name##_new(void) {                                                             \
    struct name *t = calloc(1, sizeof *t);                                                    \
    if (!t) return 0;                                                                         \
    t->room = 16; t->keys = calloc(16, sizeof(key)); t->used = calloc(16, 1);                 \
    if (!t->keys || !t->used) { free(t->keys); free(t->used); free(t); return 0; }            \
    return t; }                                                                               \
  size_t name##_find(struct name *t, key k) {                                                 \
    size_t i = (size_t)k * 2654435761u & (t->room - 1);                                       \
    for (size_t n = 0; t->used[i] && n < t->room; n++) {                                      \
      if (t->keys[i] == k) return i;                                                          \
      i = (i + 1) & (t->room - 1); }                                                          \
    return t->room; }                                                                         \
  int name##_put(struct name *t, key k) {                                                     \
    size_t i = (size_t)k * 2654435761u & (t->room - 1);                                       \
    while (t->used[i] && t->keys[i] != k) i = (i + 1) & (t->room - 1);                        \
    if (!t->used[i]) { t->used[i] = 1; t->n++; }                                              \
    t->keys[i] = k; return 1; }                                                               \
  int name##_drop(struct name *t, key k) {                                                    \
    size_t i = name##_find(t, k);                                                             \
    if (i == t->room) return 0;                                                               \
    t->used[i] = 0; t->n--; memset(t->keys + i, 0, sizeof(key)); return 1; }
"""
LIBRARY_IN_C = FAMILY + "TABLE(netmap, long) TABLE(fdmap, unsigned)"
PROGRAM_IN_C = (
    FAMILY
    + r"""
TABLE(shop, unsigned long)
int main(int n, char **w) {
  struct shop *s = shop_new();
  for (int i = 0; i < n; i++) shop_put(s, i);
  return shop_drop(s, 3) + (int)shop_find(s, 1);
}
"""
)
CLASSES = r"""
#include <algorithm>
#include <map>
#include <string>
#include <vector>
struct NAME {
  std::vector<TYPE> prices; std::map<TYPE, std::string> names; std::vector<float> rates;
  void put(TYPE a, const std::string &s) { prices.push_back(a); names[a] = s; rates.push_back(1); }
  void tidy() { std::sort(prices.begin(), prices.end()); std::sort(rates.begin(), rates.end()); }
};
int MAIN(int n, char **w) {
  NAME it; for (int i = 0; i < n; i++) it.put(i, w[i]);
  it.tidy(); return it.prices.size() + it.names.size();
}
"""


def _compiled(compiler: str, level: str, text: str, out: Path, *more: str) -> Path:
    language = "c++" if "++" in compiler else "c"
    command = [compiler, level, "-w", *more, "-x", language, "-", "-o", str(out)]
    subprocess.run(command, input=text, text=True, check=True)
    return out


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-Os"])
@pytest.mark.parametrize("form", FORMS)
def test_families_that_macros_and_templates_make(form: str, level: str, tmp_path: Path) -> None:
    """A program that does not contain the library has functions of the same code in number."""
    in_cxx = [
        CLASSES.replace("NAME", name).replace("TYPE", kind).replace("MAIN", main)
        for name, kind, main in (("Store", "int", "fill"), ("Shop", "unsigned", "main"))
    ]
    for compiler, library, program in (
        ("gcc", LIBRARY_IN_C, PROGRAM_IN_C),
        ("g++", in_cxx[0], in_cxx[1]),
    ):
        built = _compiled(compiler, level, library, tmp_path / "one.o", "-c")
        archive = tmp_path / f"{compiler}.a"
        run(["ar", "rcs", str(archive), str(built)])
        signatures = tmp_path / f"{compiler}.{form}"
        signatures.write_bytes(FORMS[form](*flirt_files.modules_of(str(archive))))
        twin = _compiled(compiler, level, program, tmp_path / f"{compiler}.twin")
        tally = programs.judge_all(twin, [signatures], set())
        assert not tally.wrong


@pytest.mark.parametrize("form", FORMS)
def test_what_goes_on_is_not_what_ends_there(form: str, tmp_path: Path) -> None:
    """A function that ends with a call which never returns may be the beginning of another one:
    here every other function of the library ends behind one of its calls, under another name.
    """
    modules, processor = flirt_files.modules_of(programs.LIBRARIES["glibc"])
    cut = 0
    for module in modules[::2]:
        calls = [at for at, _ in module.references if at > 40 and module.code[at - 1] == 0xE8]
        if calls and calls[-1] + 4 < len(module.code):
            end = calls[-1] + 4
            module.code = module.code[:end]
            module.references = [each for each in module.references if each[0] < end]
            module.names = [(0, f"cut_{cut}", False)]
            cut += 1
    assert cut > 300
    signatures = tmp_path / f"cut.{form}"
    signatures.write_bytes(FORMS[form](modules, processor))
    found = programs.found_names(stripped(programs.build(tmp_path, "glibc", "-O2")), [signatures])
    assert len(found) > 250
    assert not [name for name in found.values() if name.startswith("cut_")]


@pytest.mark.parametrize("form", FORMS)
def test_functions_that_a_file_does_not_tell(form: str, tmp_path: Path) -> None:
    """Modules of whole sections, half of whose names are unknown: none of the others is said of
    what lies behind its own function.
    """
    modules, processor = flirt_files.modules_of(programs.LIBRARIES["glibc"], whole=True)
    for module in modules:
        told = enumerate(module.names)
        module.names = [(at, name if i % 2 == 0 else "?", local) for i, (at, name, local) in told]
    signatures = tmp_path / f"half.{form}"
    signatures.write_bytes(FORMS[form](modules, processor))
    twin = programs.build(tmp_path, "glibc", "-O2")
    verdict = judge(stripped(twin), truth_of(twin), Search(signature_files=[str(signatures)]))
    assert not verdict.wrong["signature"]
    assert len(verdict.named["signature"]) > 250


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
        assert f"{path} is a FLIRT file for another instruction set: it says nothing." in said


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


def test_small_files_that_grow(tmp_path: Path) -> None:
    """Millions of modules, and a name of megabytes, in a few kilobytes."""
    path = tmp_path / "small.sig"
    header = flirt_files.tree_of([], 0, packed=False)[:-1]
    flagged = header[:16] + b"\x10" + header[17:]
    node = b"\x01\x04\x00\x55\x48\x89\xe5\x00\x00\x00\x00"
    packed = zlib.compress(node + b"\x10\x00a\x08" * 4_000_000 + b"\x10\x00a\x00")
    path.write_bytes(flagged + packed)
    assert len(packed) < 1 << 16
    assert "holds more than the FLIRT file of any library" in refused(path)
    named = node + b"\x10\x00" + b"n" * 50_000_000 + b"\x00"
    path.write_bytes(flagged + zlib.compress(named))
    assert native.signature_summary(str(path))["functions"] == 0
    path.write_bytes(flagged + zlib.compress(node + b"\x00\x00a\x00"))
    assert "is a damaged FLIRT file" in refused(path)


def test_text_that_makes_no_sense_is_left_out(tmp_path: Path) -> None:
    modules, _ = flirt_files.modules_of(programs.LIBRARIES["musl"])
    lines = flirt_files.text_of(modules[:5]).splitlines()
    path = tmp_path / "some.pat"
    path.write_text(
        "\n".join(["; a remark", lines[0], "nonsense", lines[1][:40], lines[2], "---", lines[3]])
    )
    assert native.signature_summary(str(path))["modules"] == 2
