"""What cannot be shown is said and counted; any other skip is a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from places import needs

TESTS = Path(needs.__file__).parent.parent

MODULE = """
import pytest
from places import needs
needs.PROBES["a refused one"] = lambda: "Operation not permitted"
needs.PROBES["a granted one"] = lambda: None

@pytest.fixture
def refused():
    needs.require("a refused one")

@pytest.mark.needs("a granted one")
def test_shown(): pass
@pytest.mark.needs("a granted one", "a refused one")
def test_not_shown(): raise AssertionError
def test_without_its_fixture(refused): raise AssertionError
"""
SKIPS = "import pytest\n@pytest.mark.skipif(True, reason='lazy')\ndef test_skips(): pass\n"
LACKS = "import pytest\npytest.importorskip('no_such_module')\ndef test_lacks(): pass\n"
UNKNOWN = "import pytest\n@pytest.mark.needs('nonsense')\ndef test_unknown(): pass\n"


def outcome(folder: Path, module: str) -> tuple[int, str]:
    """The status of pytest on the module, and what it says."""
    path = folder / "test_it.py"
    path.write_text(module)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-rs",
        "-p",
        "no:cacheprovider",
        "-p",
        "places.plugin",
    ]
    ran = subprocess.run(
        [*command, "-c", os.devnull, "--rootdir", str(folder), str(path)],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stdout


def test_what_cannot_be_shown_is_counted(tmp_path: Path) -> None:
    status, said = outcome(tmp_path, MODULE)
    assert status == 0
    assert "1 passed, 2 skipped" in said
    assert "cannot be shown here: a refused one: Operation not permitted" in said


@pytest.mark.parametrize("module", [SKIPS, LACKS, UNKNOWN])
def test_any_other_skip_is_a_failure(module: str, tmp_path: Path) -> None:
    status, said = outcome(tmp_path, module)
    assert status != 0
    assert "skipped" not in said.splitlines()[-1]


def test_probes_answer_in_words() -> None:
    for name in needs.PROBES:
        refused = needs.refusal(name)
        print(f"{name}: {refused or 'allowed'}")
        assert refused is None or refused.strip()
