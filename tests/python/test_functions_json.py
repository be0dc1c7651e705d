"""`functions` is written in pieces by native code: as Python would write the same functions."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from whocall.base.model import marked
from whocall.base.native_module import native
from whocall.report.form import jsonform
from whocall.report.form.style import AnsiStyle, Style
from whocall.report.tables.functions import (
    FunctionTable,
    _fitting,
    function_text,
    functions_json,
    select,
)

NAMES = (
    b"_start",
    b'operator""_\tsch\xc3\xb6n\\',
    b"\x01\x08\x0b\x0c\x0d\x1f\x7f",
    b"not utf-8 \xff\xc3",
    b"_ZN1a1bEv",
    b"_ZN4\xff\xff\xff\xff1bEv",  # is no name of four characters
)


def file_of(names: Sequence[bytes], path: Path) -> Path:
    """An ELF file of functions with these names, from 0x1000 on, 16 bytes each."""
    base, sections = 0x1000, b"\0.text\0.symtab\0.strtab\0"
    entry, header = struct.Struct("<IBBHQQ").pack, struct.Struct("<IIQQQQIIQQ").pack
    strings, symbols = b"\0", bytes(24)
    for at, name in enumerate(names):
        symbols += entry(len(strings), 0x12, 0, 1, base + 16 * at, 16)
        strings += name + b"\0"
    code = 16 * len(names)
    body = bytes(code) + symbols + strings + sections
    at_strings = 64 + code + len(symbols)
    headers = bytes(64)
    headers += header(1, 1, 6, base, 64, code, 0, 0, 16, 0)
    headers += header(7, 2, 0, 0, 64 + code, len(symbols), 3, 1, 8, 24)
    headers += header(15, 3, 0, 0, at_strings, len(strings), 0, 0, 1, 0)
    headers += header(15, 3, 0, 0, at_strings + len(strings), len(sections), 0, 0, 1, 0)
    kind = struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, 5, 4)
    path.write_bytes(b"\x7fELF\2\1\1".ljust(16, b"\0") + kind + body + headers)
    return path


@pytest.fixture(name="odd", scope="module")
def make_odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of functions with those names."""
    return file_of(NAMES, tmp_path_factory.mktemp("odd") / "odd.elf")


def table(path: Path | str, bias: int = 0, regex: str = "", demangle: bool = True) -> FunctionTable:
    return select(native.functions(str(path)), "a\\b", regex, demangle, bias=bias)


def expected(tables: list[FunctionTable]) -> str:
    return jsonform.text(
        {
            "schema": "whocall.functions/1",
            "modules": [
                {
                    "module": each.module,
                    "build_id": each.build_id or None,
                    "bias": hex(each.bias),
                    "functions": [
                        {
                            "start": hex(function.start),
                            "end": hex(function.end),
                            "name": function.name,
                            "raw_name": function.raw_name,
                            "source": function.source,
                            "named": function.named,
                            "inferred": function.inferred,
                            "witness": list(function.witness),
                        }
                        for function in each.functions
                    ],
                }
                for each in tables
            ],
        }
    )


def expected_lines(shown: FunctionTable, digits: int, style: Style) -> Iterator[str]:
    yield style.paint("filename", shown.module) + f": {len(shown.functions):,} functions"
    width = max((len(each.source) for each in shown.functions), default=0)
    for each in shown.functions:
        others = ", ".join(word for word in each.witness if word != each.source)
        yield " ".join(
            [
                style.paint("address", f"{each.start:#0{digits + 2}x}"),
                style.paint("address", f"{each.end:#0{digits + 2}x}"),
                style.paint("metadata", f"{each.source:<{width}}"),
                style.paint("function", marked(each.name, each.inferred)),
                *([style.paint("metadata", f"({others})")] if others and not each.named else []),
            ]
        )


def test_layout(odd: Path) -> None:
    for tables in (
        [],
        [table(odd, regex="no such name")],
        [table(odd)],
        [table(odd, demangle=False)],
        [table(odd, bias=-0x1000), table(odd, regex="x"), table("/bin/bash", bias=0x7F0000000000)],
    ):
        text = "".join(functions_json(tables))
        assert text == expected(tables)
        json.loads(text)


def test_names_of_all_kinds(odd: Path) -> None:
    names = [each.name for each in table(odd).functions]
    assert names[1:5] == [
        'operator""_\tschön\\',
        "\1\b\v\f\r\x1f\x7f",
        "not utf-8 \udcff\udcc3",
        "a::b()",
    ]


def test_lines(odd: Path) -> None:
    for style in (Style(), AnsiStyle(), AnsiStyle({"function": "1;33"})):
        for shown in (table(odd), table(odd, regex="x"), table("/bin/bash")):
            text = "".join(function_text(shown, 4, style))
            assert text == "".join(line + "\n" for line in expected_lines(shown, 8, style))
    kinds = {(each.named, each.inferred) for each in table("/bin/bash").functions}
    assert {(False, False), (True, False), (True, True)} <= kinds


def test_addresses_wrap_as_pointers_do(odd: Path) -> None:
    class Image:
        pointer_size = 4

        def wrapped(self, address: int) -> int:
            return address & 0xFFFFFFFF

    functions = select(native.functions(str(odd)), "m", "", True, Image(), -0x1010)  # type: ignore[arg-type]
    assert functions.functions[0].start == 0xFFFFFFF0
    assert "".join(functions_json([functions])) == expected([functions])
    assert "".join(function_text(functions, 4, Style())).split("\n")[1].startswith("0xfffffff0 ")


class NamesOnly:
    """A native list that does not make its functions one by one."""

    def __init__(self, path: Path) -> None:
        self._list = native.functions(str(path))
        self.build_id, self.remark, self.names = "", "", self._list.names

    def __len__(self) -> int:
        return len(self._list)


@pytest.mark.parametrize("demangle", [True, False])
@pytest.mark.parametrize(
    "regex",
    ["a", "^a", "b$", "^_start$", r"\(\)$", "_ZN1a", "schön", "�+$", "[^a]", r"\Z", "(?i)START",
     r"(?s)\x01.*\x7f", r"\b1b", "(?<=a::)b", "sub_1", "$^", ""],
)  # fmt: skip
def test_a_regex_sees_each_name_alone(odd: Path, regex: str, demangle: bool) -> None:
    """Both names of a function, as Python's `search` does."""
    for path in (odd, Path("/bin/bash")):
        everyone = table(path, demangle=demangle).functions
        search = re.compile(regex).search
        expected = [each for each in everyone if search(each.name) or search(each.raw_name)]
        chosen = _fitting(NamesOnly(path), re.compile(regex), demangle)  # type: ignore[arg-type]
        assert [everyone[at] for at in chosen] == expected
        assert list(table(path, regex=regex, demangle=demangle).functions) == expected


def test_pieces_are_small() -> None:
    shown = table("/bin/bash")
    for pieces in (list(functions_json([shown])), list(function_text(shown, 8, Style()))):
        assert max(map(len, pieces)) < 50_000 < 100_000 < sum(map(len, pieces))


def test_a_pattern_chooses_by_either_name(odd: Path) -> None:
    for regex, starts in (("^_start", [0x1000]), ("^_ZN1a", [0x1040]), ("a::b", [0x1040])):
        assert [each.start for each in table(odd, regex=regex).functions] == starts
    assert [each.start for each in table(odd).functions[1:3]] == [0x1010, 0x1020]
    assert "".join(function_text(table(odd, regex="a::b"), 4, Style())).split("\n")[1:] == [
        "0x00001040 0x00001050 symtab a::b()",
        "",
    ]


MANGLED = (
    b"_ZN2ns1fISt6vectorIiSaIiEEEEiRKT_l",
    b"_ZN2ns1gISt6vectorIiSaIiEEEEiRKT_l",
    b"_ZN2ns1gISt6vectorIiSaIiEEEEiRKT_i",
)


def test_on_a_screen_names_are_as_short_as_they_have_to_be(tmp_path: Path) -> None:
    shown = table(file_of(MANGLED, tmp_path / "long.elf"))

    def names(columns: int) -> list[str]:
        lines = "".join(function_text(shown, 4, Style(), columns)).splitlines()[1:]
        return [line.split(maxsplit=3)[3] for line in lines]

    vector = "std::vector<int, std::allocator<int> >"
    whole = [f"int ns::{name}<{vector} >({vector} const&, {last})"
             for name, last in (("f", "long"), ("g", "long"), ("g", "int"))]  # fmt: skip
    assert names(0) == names(160) == whole
    args = "(std::vector<...> const&, long)"
    assert names(90)[0] == f"int ns::f<...>{args}"
    assert names(72)[0] == f"ns::f<...>{args}"
    # Two functions are not told alike, and one of which all would be left out is as short as it can
    # be.
    assert names(40) == ["ns::f<...>(...)", f"ns::g<...>{args}", f"ns::g<...>{args[:-5]}int)"]


def test_on_a_screen_witnesses_that_do_not_fit_are_left_out() -> None:
    shown = table("/bin/bash")
    whole = "".join(function_text(shown, 8, Style())).splitlines()
    narrow = "".join(function_text(shown, 8, Style(), 80)).splitlines()
    assert len(whole) == len(narrow)
    pairs = [pair for pair in zip(whole[1:], narrow[1:]) if pair[0].endswith(")")]
    assert any(one != other for one, other in pairs)
    for one, other in pairs:
        assert len(other) < 80
        told = one if other == one else other.removesuffix(", ...)")
        assert one.startswith(told)
        assert (len(one) < 80) == (one == other)
