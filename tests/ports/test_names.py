"""Names of stripped programs of other instruction sets, held against the unstripped twin."""

from __future__ import annotations

from pathlib import Path

import pytest
from acceptance.names.true_names import truth_of

from ports.names import LINKS, named
from ports.sets import SETS
from whocall.cli import main as cli


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("name", ["mips", "mipsel", "mips64el"])
def test_hidden_functions_of_mips(name: str, link: str) -> None:
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


@pytest.mark.parametrize("name", ["mips", "mipsel", "mips64el"])
def test_functions_of_a_static_library_of_mips(name: str, tmp_path: Path) -> None:
    """What is left without a name is mostly the compiler's own library."""
    library = Path(SETS[name].sysroot) / "lib" / "libc.a"
    signatures = tmp_path / "libc.sig"
    assert cli.main(["signatures", str(library), "-o", str(signatures)]) == 0
    _, verdict = named(name, "static", signatures)
    assert not any(verdict.wrong.values()), dict(verdict.wrong)
    assert verdict.functions > 800
    assert verdict.share("signature") > 90
