"""Each command prints what is kept of it; no command is without such a text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from golden.place import ALL, HERE, LINES, WIDTHS, kept, place, text_of
from whocall.commands import own_names


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
