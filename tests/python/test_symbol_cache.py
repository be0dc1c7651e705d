"""Kept symbol files: used only when they are whole, ours, and nobody else's to write."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from whocall.base.errors import Error
from whocall.repair import symbol_cache
from whocall.repair.symbol_cache import find, keep, key_of

KEY = "0123abcd-0123456789abcdef.symbols"
CONTENTS = bytes(range(256)) * 40
FACTS = {"named": 3, "unnamed": 4, "ruled": [4096], "complete": True}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "whocall"


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x")


def _link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGE: dict[str, Callable[[Path], object]] = {
    "a bit": _flip,
    "the end": _cut,
    "more behind it": _lengthen,
    "nothing in it": lambda path: path.write_bytes(b""),
    "only noughts": lambda path: path.write_bytes(bytes(20000)),
    "writable for all": lambda path: path.chmod(0o666),
    "writable for the group": lambda path: path.chmod(0o620),
    "a link": _link,
    "a pipe": _pipe,
    "a directory": _directory,
}


def test_what_was_kept_is_found(folder: Path) -> None:
    assert find(KEY) is None
    kept = keep(KEY, CONTENTS, FACTS)
    assert find(KEY) == kept
    assert kept.path.read_bytes().startswith(CONTENTS)
    assert (kept.facts, kept.empty) == (FACTS, False)
    assert kept.path.stat().st_mode & 0o77 == 0
    assert folder.stat().st_mode & 0o77 == 0
    assert [path.name for path in folder.iterdir()] == [KEY]


@pytest.mark.parametrize("what", list(DAMAGE))
def test_damaged_files_are_not_used_and_replaced(what: str) -> None:
    path = keep(KEY, CONTENTS, FACTS).path
    DAMAGE[what](path)
    assert find(KEY) is None
    if what == "a directory":
        with pytest.raises(Error, match="cannot be written"):
            keep(KEY, CONTENTS, FACTS)
        return
    keep(KEY, CONTENTS, FACTS)
    found = find(KEY)
    assert found is not None
    assert found.facts == FACTS


def test_any_changed_bit_is_seen() -> None:
    contents = bytes(range(256)) * 1200  # more than is read at once
    path = keep(KEY, contents, FACTS).path
    whole = path.read_bytes()
    assert find(KEY) is not None
    behind = len(contents)
    for at in (0, 31, 32, 1 << 17, behind - 1, behind, len(whole) - 33, len(whole) - 1):
        damaged = bytearray(whole)
        damaged[at] ^= 0x10
        path.write_bytes(damaged)
        assert find(KEY) is None, at
    path.write_bytes(whole)
    assert find(KEY) is not None


def test_a_file_of_somebody_else_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    keep(KEY, CONTENTS, FACTS)
    symbol_cache.directory()
    mine = os.geteuid()
    asked = iter([mine])  # whose the directory is; the file is somebody else's
    monkeypatch.setattr(os, "geteuid", lambda: next(asked, mine + 1))
    assert find(KEY) is None


def test_a_directory_that_others_can_write_is_refused(folder: Path) -> None:
    keep(KEY, CONTENTS, FACTS)
    folder.chmod(0o777)
    for use in (lambda: find(KEY), lambda: keep(KEY, CONTENTS, FACTS)):
        with pytest.raises(Error, match=rf"chmod go-w {folder}"):
            use()


def test_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as it does of nobody
    with pytest.raises(Error, match="set XDG_CACHE_HOME"):
        find(KEY)


def test_a_directory_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(Error, match="cannot be made: Not a directory; set XDG_CACHE_HOME"):
        find(KEY)


def test_many_at_once_leave_one_whole_file(folder: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(lambda at: (keep(KEY, CONTENTS * at, FACTS), find(KEY)), range(1, 33)))
    assert all(found is not None for _, found in seen)
    assert [path.name for path in folder.iterdir()] == [KEY]


def test_a_key_is_of_one_file_and_its_state(tmp_path: Path) -> None:
    file = tmp_path / "library"
    file.write_bytes(b"some code")
    key = key_of(str(file), "0123", "")
    assert key is not None
    assert key.startswith("0123-")
    assert key == key_of(str(file), "0123", "")
    assert key != key_of(str(file), "0123", "with a list of names")
    copy = shutil.copy2(file, tmp_path / "copy")  # with the same time
    assert key_of(str(copy), "0123", "") != key
    file.write_bytes(b"other code")
    assert key_of(str(file), "0123", "") != key
    file.unlink()
    assert key_of(str(file), "0123", "") is None
