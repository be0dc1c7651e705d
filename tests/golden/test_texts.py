"""Each command prints what is kept of it; no command is without such a text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from golden.place import ALL, GDB_LINES, HERE, LINES, WIDTHS, gdb_text_of, kept, place, text_of
from whocall.commands import gdb_commands, own_names


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with place() as found:
        yield found


def test_every_command_has_texts() -> None:
    assert set(LINES) == set(own_names())
    wanted = {kept(name, width) for name in ALL for width in WIDTHS}
    assert wanted == set((HERE / "texts").iterdir())


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ALL)
def test_the_text_is_as_it_is_kept(name: str, width: str, folder: Path) -> None:
    assert text_of(name, WIDTHS[width], folder) == kept(name, width).read_text()


def test_every_command_of_gdb_has_texts() -> None:
    assert set(GDB_LINES) == {name for name, _ in gdb_commands()}
    wanted = {kept(name, width, "gdb_texts") for name in GDB_LINES for width in WIDTHS}
    assert wanted == set((HERE / "gdb_texts").iterdir())


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", GDB_LINES)
def test_the_text_in_gdb_is_as_it_is_kept(name: str, width: str, folder: Path) -> None:
    told = gdb_text_of(name, WIDTHS[width], folder)
    assert told == kept(name, width, "gdb_texts").read_text()
