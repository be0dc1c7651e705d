"""Lines that fit a screen: sentences with names in them, tables, names of files."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from whocall.report.form.file_names import FileNames
from whocall.report.form.sentences import broken, broken_pieces
from whocall.report.form.style import AnsiStyle, Style
from whocall.report.tables.module_table import module_lines
from whocall.report.tables.modules import ModuleFacts, on_the_command_line
from whocall.triage.forms import text_lines

if TYPE_CHECKING:
    import whocall._native as native
    from whocall.triage.run import Findings


def test_a_sentence_is_broken_between_words_but_not_in_a_name() -> None:
    pieces = [("", "    it is "), ("function", "f(int, char)"), ("", " of a file, or  another")]
    assert broken_pieces(pieces, Style(), 0) == ["    it is f(int, char) of a file, or  another"]
    assert broken_pieces(pieces, Style(), 80) == broken_pieces(pieces, Style(), 0)
    assert broken_pieces(pieces, Style(), 24) == [
        "    it is f(int, char)",
        "      of a file, or",
        "      another",
    ]
    assert broken_pieces(pieces, Style(), 22) == [
        "    it is",
        "      f(int, char) of",
        "      a file, or",
        "      another",
    ]
    assert broken_pieces(pieces, Style(), 8)[2] == "      f(int, char)"  # longer than a line


def test_no_line_reaches_the_last_column() -> None:
    words = [("", " ".join("word" for _ in range(30)))]
    for columns in range(12, 60):
        assert max(map(len, broken_pieces(words, Style(), columns))) < columns


def test_paint_takes_no_columns() -> None:
    pieces = [("address", "0x10"), ("", " is "), ("function", "f"), ("", ", in it")]
    assert broken_pieces(pieces, AnsiStyle(), 20) == [
        "\x1b[34m0x10\x1b[0m is \x1b[33mf\x1b[0m, in it"
    ]


def test_a_control_character_in_a_name_is_told_and_counted() -> None:
    (line,) = broken_pieces([("filename", "a\x1b[2J"), ("", " is")], Style(), 80)
    assert "\x1b" not in line
    assert len(broken_pieces([("filename", "a\x1b[2J"), ("", " is")], Style(), len(line))) == 2


def test_spaces_alone_are_a_line() -> None:
    assert broken(" " * 50, 20) == [""]


def test_names_of_files_are_those_of_backtraces() -> None:
    modules = ["/opt/a/libx.so", "/opt/b/libx.so", "/lib/libc.so.6"]
    assert [FileNames("relative", modules).module(path) for path in modules] == [
        "/opt/a/libx.so", "/opt/b/libx.so", "libc.so.6",
    ]  # fmt: skip
    assert FileNames("absolute", modules).module(modules[2]) == modules[2]
    told = {
        display: FileNames(display, []).source("src/t.c", "/build/src/t.c")
        for display in ("relative", "basename", "absolute")
    }
    assert told == {"relative": "src/t.c", "basename": "t.c", "absolute": "/build/src/t.c"}


FACTS = ModuleFacts(
    cast(
        "native.Module",
        SimpleNamespace(
            path="/opt/shop/lib/libshop.so.1", file_path="/srv/root/opt/shop/lib/libshop.so.1",
            begin=0x7F0000000000, end=0x7F0000010000, state="MISMATCH", remark="",
            build_id_in_memory="aa" * 20, build_id_on_disk="bb" * 20,
        ),
    ),
    {"symtab": 7}, 100, 90, True, "", "/usr/lib/debug/.build-id/aa/aaaaaaaa.debug",
)  # fmt: skip


def test_modules_have_lines_of_their_own_for_what_does_not_fit() -> None:
    advice = on_the_command_line(False)
    wide = list(module_lines([FACTS], advice, Style()))
    assert wide[1].endswith(".so.1, file /srv/root/opt/shop/lib/libshop.so.1, debug file "
                            "/usr/lib/debug/.build-id/aa/aaaaaaaa.debug")  # fmt: skip
    narrow = list(module_lines([FACTS], advice, Style(), 64))
    assert narrow[0].endswith("named functions")
    assert narrow[1:6] == [
        "    file",
        "0x7f0000000000-0x7f0000010000  MISMATCH  90 %  7 symtab",
        "    /opt/shop/lib/libshop.so.1",
        "    file /srv/root/opt/shop/lib/libshop.so.1",
        "    debug file /usr/lib/debug/.build-id/aa/aaaaaaaa.debug",
    ]
    assert max(map(len, narrow)) < 64
    words = " ".join(" ".join(narrow[6:]).split())
    assert words == " ".join(" ".join(wide[2:]).split())


BUCKET = {
    "id": "0123456789abcdef", "new": None, "count": 2, "severity": "NOT_EXPLOITABLE",
    "kind": "SourceAvNearNull", "title": "SIGSEGV in std::map<int, long>::find of shop",
    "message": "terminate called after throwing an instance of 'std::out_of_range'",
    "frames": [
        {"function": f"ns::table<ns::key<int>, char>::{name}(long, ns::f)", "inferred": False}
        for name in ("find", "look")
    ],
    "first_seen": "2026-01-01T00:00:00Z", "last_seen": "2026-01-01T00:00:00Z",
    "counts": {"build_id": [{"value": f"{at:040x}", "count": 1} for at in range(3)], "host": []},
    "cluster": 1,
    "representative": {"report": None, "path": "/var/crash/" + "folder/" * 10 + "core"},
}  # fmt: skip


def test_triage_fits_the_screen_but_for_paths() -> None:
    found = cast(
        "Findings",
        SimpleNamespace(buckets=[BUCKET], total=2, failed=0, compared_with=None),
    )
    whole = list(text_lines(found, Style()))
    assert whole[2].endswith("SIGSEGV in std::map<int, long>::find of shop")
    narrow = list(text_lines(found, Style(), 62))
    assert {len(line) >= 62 for line in narrow[:-1]} == {False}
    assert narrow[-1] == whole[-1] == f"    see      {BUCKET['representative']['path']}"
    assert narrow[2:5] == [
        "0123456789abcdef  2 cores  NOT_EXPLOITABLE, SourceAvNearNull",
        "    SIGSEGV in std::map<int, long>::find of shop",
        "    says     terminate called after throwing an instance of",
    ]
    assert "    stack    ns::table<...>::find(long, ns::f) <-" in narrow
    wide = list(text_lines(found, Style(), 200))
    assert wide == whole
