"""Names of stripped programs of other instruction sets, held against the unstripped twin."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from acceptance.name_files import flirt_files
from acceptance.names.true_names import truth_of
from oracles.distribution import sysroot
from oracles.tools import run

from ports.names import LINKS, named
from ports.sets import SETS
from whocall.base.process_image import open_names
from whocall.cli import main as cli


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("name", SETS)
def test_hidden_functions(name: str, link: str) -> None:
    """main by the start-up code, others by what they assert; no name is wrong."""
    twin, verdict = named(name, link)
    truth = truth_of(twin)
    own = {"main", "first", "second", "by_pointer"}
    found = {
        each
        for starts in verdict.named.values()
        for start in starts
        for each in truth.names[start] & own
    }
    assert not any(verdict.wrong.values()), dict(verdict.wrong)
    assert found == own, (found, dict(verdict.named))


@pytest.mark.parametrize("link", ["pie", "nopie"])
@pytest.mark.parametrize("name", ["aarch64", "arm", "thumb"])
def test_slots_of_imported_functions(name: str, link: str) -> None:
    """As the objdump of the set labels them; one that T32 calls begins with a change of mode."""
    twin, _ = named(name, link)
    shown = run([f"{SETS[name].triple}-objdump", "-d", "-j", ".plt", str(twin)])
    labels = re.findall(r"^([0-9a-f]+) <(\w+@plt)>:", shown, re.M)
    names = open_names(str(twin.with_name("names")))
    found = {label: names.describe(int(start, 16)).raw_name for start, label in labels}
    assert len(found) > 5
    assert all(label == name for label, name in found.items()), found


def test_slots_of_functions_that_a_library_chooses_itself() -> None:
    """As objdump labels them; this machine's libbfd need not know the machine, so we read them."""
    library = sysroot("aarch64-linux-gnu") / "lib" / "libc.so.6"
    shown = run(["aarch64-linux-gnu-objdump", "-d", "-j", ".plt", str(library)])
    labels = re.findall(r"^([0-9a-f]+) <(\*ABS\*\+\w+@plt)>:", shown, re.M)
    names = open_names(str(library))
    assert labels
    assert all(names.describe(int(start, 16)).raw_name == label for start, label in labels)


def _static_libraries(name: str) -> list[str]:
    compiler = f"{SETS[name].triple}-gcc"
    return [
        run([compiler, f"-print-file-name={each}"]).strip()
        for each in ("libc.a", "libgcc.a", "libgcc_eh.a")
    ]


@pytest.mark.parametrize("name", [name for name, one in SETS.items() if not one.relaxed])
def test_functions_of_static_libraries(name: str, tmp_path: Path) -> None:
    """The C library's and the compiler's own; what is left is the program and how it starts."""
    signatures = tmp_path / "libc.sig"
    assert cli.main(["signatures", *_static_libraries(name), "-o", str(signatures)]) == 0
    _, verdict = named(name, "static", signatures)
    assert not any(verdict.wrong.values()), dict(verdict.wrong)
    assert verdict.functions > 800
    assert verdict.share("signature") > 97


# Where the shape of the code says less of it, less is proved.
@pytest.mark.parametrize("name", [name for name, one in SETS.items() if not one.relaxed])
def test_functions_by_flirt_files(name: str, tmp_path: Path) -> None:
    modules, _ = flirt_files.modules_of(_static_libraries(name)[0])
    signatures = tmp_path / "libc.pat"
    signatures.write_text(flirt_files.text_of(modules))
    _, verdict = named(name, "static", signatures)
    assert not any(verdict.wrong.values()), dict(verdict.wrong)
    assert verdict.share("signature") > 60


@pytest.mark.parametrize("name", [name for name, one in SETS.items() if one.relaxed])
def test_no_signatures_of_what_the_linker_shortens(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    signatures = tmp_path / "libc.sig"
    assert cli.main(["signatures", *_static_libraries(name), "-o", str(signatures)]) == 1
    assert (
        f"has code for {name}, whose relocations whocall does not know" in capsys.readouterr().err
    )
    assert not signatures.exists()
