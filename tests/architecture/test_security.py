"""SECURITY.md tells the limits that the code has."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def limits(project_root: Path) -> ModuleType:
    """The script, which has no ending."""
    loader = importlib.machinery.SourceFileLoader("limits", str(project_root / "scripts/limits"))
    spec = importlib.util.spec_from_loader("limits", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_the_table_is_of_today(limits: ModuleType, project_root: Path) -> None:
    page = (project_root / "SECURITY.md").read_text()
    assert limits.with_table(page) == page, "scripts/limits --write"
    assert page.count("\n| ") > 30


def test_a_limit_that_is_gone_is_an_error(limits: ModuleType) -> None:
    row = limits.LIMITS[0]._replace(constant="kNoSuchLimit")
    with pytest.raises(SystemExit, match="has no kNoSuchLimit any more"):
        limits.value_of(row)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(1 << 30, "bytes", "1 GiB"), (1000, "bytes", "1,000 bytes"), (65536, "", "65,536")],
)
def test_numbers_are_shown(limits: ModuleType, value: int, unit: str, text: str) -> None:
    assert limits.shown(value, unit) == text


def test_the_readme_leads_there(project_root: Path) -> None:
    assert "(SECURITY.md)" in (project_root / "README.md").read_text()
