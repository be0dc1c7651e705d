"""The provider of unstripped files gives what it promises: at least ten, with symbols."""

from __future__ import annotations

from pathlib import Path

from oracles import nm_table, objdump_table, unstripped

CHEAP = "libz"


def test_ten_archives_are_installed() -> None:
    missing = [archive.package for archive in unstripped.ARCHIVES if archive.path() is None]
    assert len(unstripped.ARCHIVES) - len(missing) >= 10, f"install {' '.join(missing)}"


def test_a_whole_archive_has_its_symbols(tmp_path: Path) -> None:
    (archive,) = (archive for archive in unstripped.ARCHIVES if archive.name == CHEAP)
    assert archive.path() is not None, f"install {archive.package}"
    linked = unstripped.link_whole(archive, tmp_path)
    by_nm = {(symbol.address, symbol.name) for symbol in nm_table.symbols(linked)}
    functions = {
        (symbol.address, symbol.name)
        for symbol in objdump_table.symbols(linked)
        if symbol.is_function
    }
    assert {"inflate", "deflate", "crc32"} <= {name for _, name in functions}
    assert functions <= by_nm
