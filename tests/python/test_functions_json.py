"""`functions --json` is written in pieces: the layout is that of all other JSON."""

from __future__ import annotations

import json
from typing import cast

from whocall.core.engine import native
from whocall.core.model import INFERRED_MARK
from whocall.report.form import jsonform
from whocall.report.form.style import Style
from whocall.report.tables.functions import FunctionTable, function_lines, functions_json, select

Row = tuple[int, int, str, str, bool, list[str], bool]

ROWS: list[Row] = [
    (0x1000, 0x1010, "_start", "entry", True, ["entry-point", "fde"], True),
    (0x1010, 0x1010, 'operator""_\tü\udc80', "symtab", True, [], False),
    (0x2000, 0x2004, "sub_2000", "call-target", False, ["call-target"], False),
]


class FakeList(list[Row]):
    build_id = ""
    remark = ""


def table(rows: list[Row], bias: int = 0, regex: str = "") -> FunctionTable:
    return select(cast("native.FunctionList", FakeList(rows)), "a\\b", regex, str.upper, bias=bias)


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


def test_layout() -> None:
    for tables in (
        [],
        [table([])],
        [table(ROWS)],
        [table(ROWS, bias=-0x1000), table([]), table(ROWS * 300, bias=0x7F0000000000)],
    ):
        text = "".join(functions_json(tables))
        assert text == expected(tables)
        json.loads(text)


def test_pieces_are_small() -> None:
    pieces = list(functions_json([table(ROWS * 10_000)]))
    assert max(map(len, pieces)) < 100_000 < sum(map(len, pieces))


def test_a_pattern_chooses_by_either_name() -> None:
    for regex, starts in (("_START", [0x1000]), ("^sub", [0x2000]), ("x", [])):
        assert [each.start for each in table(ROWS, regex=regex).functions] == starts
    assert [each.start for each in table(ROWS).functions[1:]] == [0x1010, 0x2000]


def test_columns_are_as_wide_as_what_is_shown() -> None:
    lines = list(function_lines(table(ROWS, regex="_START"), 4, Style()))
    assert lines[1:] == ["0x00001000 0x00001010 entry _START" + INFERRED_MARK]
