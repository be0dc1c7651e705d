"""What the doctor says of modules and programs that only some commands need."""

from __future__ import annotations

import sys

import pytest

from whocall.base import loader
from whocall.base.native_module import native
from whocall.base.optional_packages import NEEDS, lacking
from whocall.shared_front_end.doctor import examine, finding_lines, is_healthy

LIBRARIES = sorted({need.library for need in NEEDS})


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_module_that_is_missing(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands that need it are named, what installs it too, and all else is in order."""
    monkeypatch.setitem(sys.modules, library, None)
    findings = examine()
    assert is_healthy(findings)
    (finding,) = (one for one in findings if one.subject == library)
    needs = [need for need in NEEDS if need.library == library]
    assert finding.text.startswith("MISSING")
    assert all(need.what in finding.text for need in needs)
    assert finding.remedy == lacking(needs[0]).remedy
    last = finding_lines(findings)[-1]
    assert last.startswith("Everything is in order, but for ")
    assert all(need.command in last for need in needs)


def test_a_program_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GDB", "/no/such/gdb")
    findings = examine()
    assert is_healthy(findings)
    (finding,) = (one for one in findings if one.subject == "gdb")
    assert (finding.text[:22], finding.remedy) == ("MISSING (/no/such/gdb)", "apt-get install gdb")
    assert "whocall compare" in finding_lines(findings)[-1]


@pytest.mark.parametrize(
    ("support", "said"),
    [
        ((7, True), "on, by Landlock 7 and seccomp"),
        ((0, True), "on, by seccomp; this kernel or container has no Landlock"),
        ((1, False), "on, by Landlock 1; this kernel or container has no seccomp"),
        ((0, False), "OFF; this kernel or container has no Landlock and no seccomp"),
    ],
)
def test_what_the_sandbox_is_made_of(
    support: tuple[int, bool], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "sandbox_support", lambda: support)
    findings = examine()
    assert is_healthy(findings)
    assert [one.text for one in findings if one.subject == "sandbox"] == [said]


def test_inside_gdb_no_command_needs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in LIBRARIES:
        monkeypatch.setitem(sys.modules, library, None)
    assert finding_lines(examine("13.1"))[-1] == "Everything is in order."


def test_what_fixes_an_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    """pip may not touch what the distribution's package holds."""
    monkeypatch.setattr(loader, "_PACKAGE", "/usr/lib/python3/dist-packages/whocall")
    assert loader.remedy() == "apt-get install --reinstall whocall"
    assert str(lacking(NEEDS[0])).endswith("install it with `apt-get install python3-jinja2`")
    monkeypatch.setattr(loader, "_PACKAGE", "/opt/venv/lib/python3.11/site-packages/whocall")
    assert "-m pip install" in loader.remedy()
    assert "-m pip install jinja2`, or as Debian's python3-jinja2" in str(lacking(NEEDS[0]))


def test_it_fits_the_screen() -> None:
    """But for words that are longer than their column, as paths are."""
    for line in finding_lines(examine(), 80):
        assert len(line) < 80 or " " not in line.strip(), line
    assert len(finding_lines(examine())) < len(finding_lines(examine(), 80))
