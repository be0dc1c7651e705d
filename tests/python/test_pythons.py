"""The search for another Python that can load the native module."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from whocall.base import loader
from whocall.shared_front_end import pythons

VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
PROGRAM = f"python{VERSION}"
MODULE = f"_native.cpython-{VERSION.replace('.', '')}-x86_64-linux-gnu.so"


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("_native.cpython-311-x86_64-linux-gnu.so", "3.11"),
        ("_native.cpython-39-aarch64-linux-gnu.so", "3.9"),
        ("_native.cpython-313t-x86_64-linux-gnu.so", "3.13t"),
        ("_native.pypy310-pp73-x86_64-linux-gnu.so", None),
        ("_native.so", None),
    ],
)
def test_the_name_of_a_module_tells_its_python(name: str, version: str | None) -> None:
    assert loader.version_of(Path("/somewhere", name)) == version


def program(folder: Path, *lines: str) -> Path:
    """A Python of this version below `folder`, which begins with `lines` of shell."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PROGRAM
    path.write_text("\n".join(["#!/bin/sh", *lines, f'exec {sys.executable} "$@"', ""]))
    path.chmod(0o755)
    return path


def test_the_python_of_the_environment_that_holds_the_module_comes_first(tmp_path: Path) -> None:
    python = program(tmp_path / "bin")
    module = tmp_path / "lib" / PROGRAM / "site-packages" / "whocall" / MODULE
    found = pythons.find([module])
    assert found is not None
    assert (found.path, found.module) == (str(python), module)
    assert found.command(["bt", "-x y"]) == [str(python), str(loader.script_path()), "bt", "-x y"]


def test_the_python_that_a_build_was_configured_for_is_asked(tmp_path: Path) -> None:
    python = program(tmp_path / "far away")
    (tmp_path / "CMakeCache.txt").write_text(f"A:BOOL=ON\nPython_EXECUTABLE:FILEPATH={python}\n")
    found = pythons.find([tmp_path / "whocall" / MODULE])
    assert found is not None
    assert found.path == str(python)


def test_a_python_that_cannot_load_it_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "broken", "exit 1")
    good = program(tmp_path / "good")
    monkeypatch.setenv("PATH", f"{tmp_path}/none:{tmp_path}/broken:.:{tmp_path}/good")
    found = pythons.find([tmp_path / "whocall" / MODULE])
    assert found is not None
    assert found.path == str(good)


def test_there_may_be_none(tmp_path: Path) -> None:
    strange = [tmp_path / name for name in ("_native.so", "_native.cpython-35-x86_64-linux-gnu.so")]
    assert pythons.find(strange) is None


def test_its_environment_is_clean_where_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PYTHONHOME", "PYTHONPATH", "LD_LIBRARY_PATH", "LD_PRELOAD"):
        monkeypatch.setenv(name, "/nowhere")
    found = pythons.find([tmp_path / "whocall" / MODULE])
    assert found is not None
    assert not {"PYTHONHOME", "PYTHONPATH", "LD_LIBRARY_PATH"} & set(found.environment)
    assert "WHOCALL_BUILD_DIR" in found.environment


def test_libraries_that_it_needs_are_left_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needy = program(tmp_path / "bin", '[ "$LD_LIBRARY_PATH" = /its/own ] || exit 127')
    monkeypatch.setenv("LD_LIBRARY_PATH", "/its/own")
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    found = pythons.find([tmp_path / "lib" / PROGRAM / "site-packages" / "whocall" / MODULE])
    assert found is not None
    assert found.path == str(needy)
    assert found.environment["LD_LIBRARY_PATH"] == "/its/own"
    assert "PYTHONHOME" not in found.environment
