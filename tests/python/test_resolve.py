"""`whocall resolve` on lines that nobody would write: none stops it, and none is changed."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from guards import guarded
from hypothesis import given, settings
from hypothesis import strategies as st

from whocall.base.elf_head import read_elf_head
from whocall.base.file_search import Search
from whocall.base.printable import printable_line
from whocall.base.records import replace
from whocall.report.form.style import Style
from whocall.resolve.envelopes import Piece, opened
from whocall.resolve.facts.context import Context
from whocall.resolve.facts.maps import Mapping, Maps, parse_mapping
from whocall.resolve.facts.place import Place
from whocall.resolve.formats.known import READERS
from whocall.resolve.grammar import reader as grammar
from whocall.resolve.grammar.forms import BLOCKS
from whocall.resolve.lines import LONGEST, read_chunks
from whocall.resolve.load_address import load_bias
from whocall.resolve.modules import Modules
from whocall.resolve.resolver import Line, Resolver
from whocall.resolve.stores import breakpad_id, same_build
from whocall.resolve.text import resolved
from whocall.resolve.understood import looks_like_frame

PIECES = (
    *(
        "#0 ",
        "#1  ",
        "0x",
        "0x55d0c8a01139",
        " in ",
        "?? ()",
        "(",
        ")",
        "[",
        "]",
        "+0x1139",
        "/x/prog",
    ),
    *(
        " (BuildId: 2a86)",
        "pc ",
        " pc 00001139  ",
        "ip ",
        " ip:",
        "==1==    at ",
        ": ",
        "??? (in /x)",
    ),
    *("goroutine 1 [running]:", "\t", " fp=0x1 sp=0x2 pc=0x3", " - ", "<unknown>", "  1: ", "@ "),
    *("C  [libx.so+0x1]", "# ", " from ", " at a.c:1", "module: ", "mapping: ", " build id ", "-"),
    *(
        "55d0c8a00000-55d0c8a02000 r-xp 00000000 fe:00 1 /x/prog",
        "whocall: p[1] crashed: ",
        " [cfi]",
    ),
    *("PERF_RECORD_MMAP2 1/1: [0x1(0x2) @ 0 0:0 1 1]: r-xp /x", " n/a (p + 0x1)", "\x1b[31m", "\0"),
    *(
        "\udcff",
        "é",
        "\r",
        " ",
        "SUMMARY: a: b ",
        "segfault at 0 ip 1 sp 2 error 4 in p[1,2+3]",
        "segfault at 0 ip 1234 sp 2 error 4",
        " in p[1000+1000]",
        "Backtrace:",
        "  0x1139",
        "EIP:",
        "@[",
        "#012",
        '{"log":"',
        "\\n",
        '"}',
        " 1# 0x1234 in ./x",
        '#1 Object "x", at 0x1234, in ',
        "frame #0: 0x1234 x`f + 1",
        "1. f @ 0x1",
        "unknown function (ip: 0x1234)",
        "---- signal ----",
        "f in /x(+0x1) called g in /x(+0x2)",
        "postgres: a b(+0x11)[0x1234]",
        "b(int)+0x1)[0x1234]",
        "PC=0x",
    ),
)
LINES = st.one_of(
    st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
)


def _resolver() -> Resolver:
    return Resolver(Context(), Modules(Search(debug_directories=()), demangle=True))


def _read(resolver: Resolver, lines: list[str]) -> list[Line]:
    given_lines = [(line, "\n", True) for line in lines]
    return [*resolver.read(given_lines), *resolver.rest()]


@settings(max_examples=400)
@given(st.lists(LINES, max_size=8))
def test_no_lines_stop_it_and_unknown_files_change_none(lines: list[str]) -> None:
    found = _read(_resolver(), lines)
    told = "".join(line.escape(line.text) + line.end for line in found)
    assert told == "".join(line + "\n" for line in lines)
    ends = [line.number for line in found if "\n" in line.end]
    assert ends == list(range(1, len(lines) + 1))
    for line in found:
        for place, _ in line.places:
            assert 0 <= place.begin <= place.end <= len(line.text)
        if not any(answer.function for _, answer in line.places):
            assert resolved(line, Style()) == _shown(line)


def _shown(line: Line) -> str:
    return printable_line(line.escape(line.text), kept="\t") + line.end


@settings(max_examples=200)
@given(st.binary(max_size=300), st.integers(1, 64))
def test_bytes_stay_what_they_are(data: bytes, size: int) -> None:
    """However they come."""

    class Slow(io.BytesIO):
        def read1(self, _: int | None = -1) -> bytes:
            return self.read(size)

    pieces = [piece for chunk in read_chunks(Slow(data)) for piece in chunk]
    text = "".join(line + end for line, end, _ in pieces)
    assert text.encode("utf-8", "surrogateescape") == data


def test_long_lines_go_through_unread() -> None:
    long_line = b"#0 0x1 in f (/x+0x1)" * 20000
    pieces = [
        piece for chunk in read_chunks(io.BytesIO(b"a\n" + long_line + b"\nb")) for piece in chunk
    ]
    assert "".join(line + end for line, end, _ in pieces).encode() == b"a\n" + long_line + b"\nb"
    assert [whole for *_, whole in pieces] == [True, *[False] * (len(pieces) - 2), True]
    assert max(len(line) for line, *_ in pieces) <= 2 * LONGEST


REPEATED = (
    "(", ")", "[0x", "#1 0x1 in a ", "a(", " (", "a:1 ", "()", " x", "module: ",
    "0123456789abcdef ",
    "a.go:1 fp=", "(in /", "b ", "ip 12345678 ", "whocall: ", "Module ", "/", "+0x1", " in ", "@ ",
    "1: 0x1234 [", " - ", "#0 pc 00000000 ", "== ==1==    at 0x1: ", "\t", " [0x1]",
    'Object "', "frame #1: ", "1# ", "1. ", "[1] (", "<= ",
    "ip: ", "@ 0x1 ", "+0x1 ", " 0x1", "backtrace: ", "#012", '{"log":"', "\\n", '\\"', "[0x1] ",
    "x in /x(+0x1) called ", "12345678 ", "12345678 1234 (", "`", "(a", "/x+0x1 ", "Stack trace: ",
)  # fmt: skip
ENDS = ("", "+0x1)", "]", " crashed: x", " with build-id", " (a + 0x1)", " [cfi]", ")", " in ")


@pytest.mark.parametrize("piece", REPEATED)
def test_no_line_is_read_for_long(piece: str) -> None:
    """As long as lines are read at all: what grows with the square would take minutes."""
    with guarded(20):
        for end in ENDS:
            for begin in ("", "#0 0x1 ", "    #1 0x1 in ", "\t", "==1==    at 0x1: ", "# C  ["):
                line = begin + piece * ((LONGEST - 40) // len(piece)) + end
                context = Context()
                context.learn(line)
                for _, read in READERS:
                    read(line, context)
                for block in BLOCKS if begin == "\t" else ("",):
                    context.block = block
                    grammar.read(line, context)
                looks_like_frame(line)
                assert "".join(map(_packed, opened(line, "\n", True))) == line + "\n"


def _packed(piece: Piece) -> str:
    return piece.escape(piece.text) + piece.end


@settings(max_examples=300)
@given(LINES, st.sampled_from(("", '{"log":"', '{"a":1,"MESSAGE": "')), st.sampled_from(("", '"}')))
def test_packed_lines_are_written_back_as_they_were(line: str, before: str, after: str) -> None:
    whole = before + line + after
    assert "".join(map(_packed, opened(whole, "\n", True))) == whole + "\n"


def test_escapes_stay_text() -> None:
    line = Line(1, "\x1b]0;title\x07 \x9b31m a\tb", "\n", "", ())
    assert resolved(line, Style()) == "\\x1b]0;title\\x07 \\u009b31m a\tb\n"


def test_bytes_and_marks_that_terminals_obey_are_text_too() -> None:
    """0x9b alone begins an escape where 8 bits are a character; marks of direction hide text."""
    line = Line(1, "a\udc9b31m \u202egnp.exe \udce9 \u00e9 \u0434", "\n", "", ())
    assert resolved(line, Style()) == "a\\x9b31m \\u202egnp.exe \\xe9 \u00e9 \u0434\n"


def test_mappings() -> None:
    told = parse_mapping("7f81767f000-7f817680000 r-xp 00001000 fe:00 2189393   /a b (deleted)")
    assert told == Mapping(0x7F81767F000, 0x7F817680000, 0x1000, True, "/a b")
    assert parse_mapping("7f81767f000-7f817680000 rw-p 00000000 00:00 0 ") is not None
    assert parse_mapping("a sentence of 12-34 words r--p") is None


def test_mappings_of_gdb() -> None:
    """As old ones write them, gdb 13, and gdb 16."""
    numbers = "0x555555555000     0x555555556000     0x1000     0x2000"
    told = Mapping(0x555555555000, 0x555555556000, 0x2000, True, "/a b")
    assert parse_mapping(f"      {numbers} /a b") == replace(told, executable=None)
    assert parse_mapping(f"      {numbers}  r-xp   /a b") == told
    assert parse_mapping(f"{numbers}             r-xp  /a b ") == told
    assert parse_mapping(f"{numbers}             rw-p   ") == replace(
        told, executable=False, path=""
    )
    assert parse_mapping(numbers) is None


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 60)), max_size=30))
def test_the_last_mapping_counts(ranges: list[tuple[int, int]]) -> None:
    """A linear search among those that no later one touched."""
    maps = Maps()
    kept: list[Mapping] = []
    for at, (begin, size) in enumerate(ranges):
        mapping = Mapping(begin, begin + size, 0, True, f"/{at}")
        maps.insert(mapping)
        if size:
            kept = [old for old in kept if old.end <= mapping.begin or mapping.end <= old.begin]
            kept.append(mapping)
    for address in range(0, 470, 7):
        expected = next((old for old in kept if old.begin <= address < old.end), None)
        assert maps.find(address) == expected


def test_another_process_takes_the_place_of_one() -> None:
    maps = Maps()
    for begin in (0x1000, 0x2000, 0x1000):
        maps.add(Mapping(begin, begin + 0x1000, begin - 0x1000, True, "/x"))
    assert maps.find(0x1500) is not None
    assert maps.find(0x2500) is None


def test_ids() -> None:
    build = "2a86d1c4e5f60718293a4b5c6d7e8f9001122334"
    assert breakpad_id(build) == "C4D1862AF6E51807293A4B5C6D7E8F900"
    assert same_build(build, breakpad_id(build))
    assert same_build(build, build)
    assert not same_build(build, build.replace("2a", "2b"))
    assert not same_build("", "")


@settings(max_examples=100)
@given(st.data())
def test_damaged_headers_are_no_files(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    original = bytearray(Path("/bin/true").read_bytes()[: 1 << 13])
    for _ in range(data.draw(st.integers(1, 8))):
        original[data.draw(st.integers(0, 1023))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("elf") / "x"
    path.write_bytes(original[: data.draw(st.integers(0, len(original)))])
    head = read_elf_head(str(path))
    if head is not None:
        load_bias(head, [0x1000, 0x2000])


def test_addresses_of_chance_tell_no_load_address() -> None:
    head = read_elf_head("/bin/bash")
    assert head is not None
    assert load_bias(head, range(0x7F0000001000, 0x7F0000009000, 0x777)) is None


def test_thousands_of_addresses_are_not_tried_at_every_page() -> None:
    """What grew with the square of the addresses took hours."""
    head = read_elf_head("/bin/bash")
    assert head is not None
    with guarded(20):
        addresses = [0x7F0000001000 + 0x1777 * at for at in range(20_000)]
        assert load_bias(head, addresses) is None


def test_many_mappings_are_not_looked_through_for_each_place() -> None:
    maps = Maps()
    for at in range(100_000):
        maps.add(Mapping(at << 12, (at + 1) << 12, (at + 1) << 12, True, f"/x/{at % 50}/lib.so"))
    same = Maps()
    for at in range(100_000):
        same.add(Mapping(at << 12, (at + 1) << 12, (at + 1) << 12, True, "/x/lib.so"))
    last = same.find(99_999 << 12)
    assert last is not None
    with guarded(10):
        for at in range(20_000):
            assert maps.path_called(f"{at}.so") is None
            assert same.first_byte(last) is None
    assert maps.path_called("lib.so") == "/x/0/lib.so"


def test_what_is_waited_for_comes_when_too_much_is_held() -> None:
    resolver = _resolver()
    lines = ["whocall: /p[1] crashed: SIGSEGV"] + [
        "#1  0x0000000000000001 /p(+0x1) ? [cfi]"
    ] * 30_000
    seen = len(list(resolver.read((line, "\n", True) for line in lines)))
    assert seen > 9_000
    assert seen + len(list(resolver.rest())) == len(lines)


def test_a_place_tells_its_module() -> None:
    context = Context()
    context.note(Place(0, 0, address=0x5000, module="/p", offset=0x1000, build_id="aa"))
    assert context.bias_of("/p") == 0x4000
    assert context.build_id_of("p") == "aa"


def test_code_that_is_one_large_hole_is_not_searched(tmp_path: Path) -> None:
    """A terabyte of it, which takes no room on the disk; up to the end of all addresses, too."""
    path = tmp_path / "holes"
    for address in (0x1000, (1 << 64) - (1 << 41)):
        image = bytearray(Path("/bin/true").read_bytes())
        table = int.from_bytes(image[32:40], "little")
        for at in range(table, table + 56 * int.from_bytes(image[56:58], "little"), 56):
            if image[at] == 1 and image[at + 4] & 1:
                image[at + 16 : at + 24] = address.to_bytes(8, "little")
                for size in (at + 32, at + 40):
                    image[size : size + 8] = (1 << 40).to_bytes(8, "little")
        path.write_bytes(image)
        with path.open("r+b") as file:
            file.truncate(1 << 41)
        head = read_elf_head(str(path))
        with guarded(10):
            assert (
                head is None or load_bias(head, range(0x7F0000001000, 0x7F0000009000, 77)) is None
            )
