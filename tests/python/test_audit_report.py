"""The audit of a file: text, JSON, and the command line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import whocall
from whocall.base.errors import Error
from whocall.base.native_module import native
from whocall.report.form.style import AnsiStyle, Style
from whocall.report.tables.audit import (
    CLASSES,
    OUTCOMES,
    Audit,
    Count,
    Difference,
    audit_file,
    audit_json,
    audit_lines,
    percent,
)

SCRIPT = Path(__file__).resolve().parents[2] / "gdbext" / "whocall.py"
SCHEMA = json.loads((Path(whocall.__file__).parent / "schema" / "audit-1.json").read_text())


def count(places: int, **classes: int) -> Count:
    """Places that agree but for those of `classes`, where the CFA is another."""
    wrong = sum(classes.values())
    named = {name.replace("_", "-"): number for name, number in classes.items()}
    outcomes = {**dict.fromkeys(OUTCOMES, 0), "agrees": places - wrong, "cfa-differs": wrong}
    right = places - wrong
    return Count(places, right, right, right, outcomes, {**dict.fromkeys(CLASSES, 0), **named})


DIFFERENCE = Difference(
    address=0x1141,
    function=0x1140,
    name="save",
    is_call=False,
    outcome="cfa-differs",
    class_name="table-incomplete",
    table="rsp+8, ra c-8",
    analysis="rsp+16, ra c-8, rbx c-16",
    code=((0x1140, "push rbx"), (0x1141, "push rbp"), (0x1142, "")),
)
AUDIT = Audit(
    file="/opt/prog",
    build_id="99a6",
    arch="x86_64",
    functions=1234,
    calls=count(13303, table_incomplete=4),
    instructions=count(324036, table_incomplete=210, plt=2),
    differences=(DIFFERENCE,),
)
FLAWLESS = replace(AUDIT, calls=count(20612), instructions=count(387120), differences=())


def text(audit: Audit) -> list[str]:
    return list(audit_lines(audit, Style()))


def test_literally() -> None:
    assert text(AUDIT) == [
        "/opt/prog: 1,234 functions with unwind tables, x86_64",
        "",
        "                   places  CFA agrees  + return address  + saved registers",
        "calls              13,303     99.96 %           99.96 %            99.96 %",
        "all instructions  324,036     99.93 %           99.93 %            99.93 %",
        "",
        "outcome       calls  instructions",
        "agrees       13,299       323,824",
        "cfa-differs       4           212",
        "",
        "class             calls  instructions",
        "plt                   0             2  stubs of a procedure linkage table",
        "table-incomplete      4           210  the table does not tell what the instructions do",
        "",
        "First differences, one of a function:",
        "0x1141 in save (+1): table-incomplete, cfa-differs",
        "    table     rsp+8, ra c-8",
        "    analysis  rsp+16, ra c-8, rbx c-16",
        "     0x1140  push rbx",
        "  => 0x1141  push rbp",
        "     0x1142  (bad)",
        "",
        text(AUDIT)[-1],
    ]


def test_the_closing_sentence_has_the_numbers() -> None:
    assert text(AUDIT)[-1].startswith(
        "Of 13,303 calls, where callers stand on a stack, the analysis finds the caller as the"
        " tables do at 13,299, all but one in 3,326: "
    )
    assert "as the tables do at every one: " in text(FLAWLESS)[-1]
    assert text(replace(AUDIT, calls=count(0)))[-1].startswith("The tables cover no call")


def test_a_file_without_differences_has_no_classes() -> None:
    lines = text(FLAWLESS)
    assert not any(line.startswith(("class", "First")) for line in lines)
    assert lines[3].count("100.00 %") == 3


def test_all_is_what_a_hundred_percent_means() -> None:
    assert percent(9999999, 10000000) == "99.99 %"
    assert percent(7, 7) == "100.00 %"
    assert percent(0, 0) == "-"


def test_a_rule_that_was_not_found() -> None:
    lost = replace(DIFFERENCE, analysis=None, name=None, is_call=True, outcome="cfa-unknown")
    lines = text(replace(AUDIT, differences=(lost,)))
    assert "0x1141 (+1): table-incomplete, cfa-unknown, a call" in lines
    assert "    analysis  nothing" in lines


def test_colours_take_no_room() -> None:
    painted = list(audit_lines(AUDIT, AnsiStyle({"title": "1", "function": "33"})))
    assert "\x1b[33msave\x1b[0m" in "".join(painted)
    assert len(painted) == len(text(AUDIT))


def test_json_literally() -> None:
    document = audit_json(AUDIT)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert document["calls"]["outcomes"]["cfa-differs"] == 4
    assert document["calls"]["classes"]["table-incomplete"] == 4
    assert (document["file"], document["build_id"], document["functions"]) == (
        "/opt/prog",
        "99a6",
        1234,
    )
    assert document["differences"] == [
        {
            "address": "0x1141",
            "function": "0x1140",
            "name": "save",
            "is_call": False,
            "outcome": "cfa-differs",
            "class": "table-incomplete",
            "table": "rsp+8, ra c-8",
            "analysis": "rsp+16, ra c-8, rbx c-16",
            "code": [
                {"address": "0x1140", "text": "push rbx"},
                {"address": "0x1141", "text": "push rbp"},
                {"address": "0x1142", "text": None},
            ],
        }
    ]


def test_names_are_those_of_the_native_side() -> None:
    found = native.audit(sys.executable, 0, 64)
    assert tuple(found.calls.outcomes) == OUTCOMES
    assert list(found.calls.classes) == list(CLASSES)


@pytest.fixture(scope="module")
def library() -> Audit:
    """The audit of a real library, with all differences."""
    ran = subprocess.run(
        ["gcc", "-print-file-name=libc.so.6"], capture_output=True, text=True, check=True
    )
    return audit_file(ran.stdout.strip(), 1000)


def test_the_counts_of_a_real_file_add_up(library: Audit) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(audit_json(library))
    for part in (library.calls, library.instructions):
        outcomes = part.outcomes
        assert sum(outcomes.values()) == part.places
        assert part.registers == outcomes["agrees"]
        assert part.return_address == part.registers + outcomes["registers-differ"]
        assert part.cfa == part.return_address + outcomes["return-address-differs"]
        assert sum(part.classes.values()) == part.places - part.registers


SAME = {"xlatb": "xlat"}
"""Both are in the manuals; capstone 5 writes the first."""


def mnemonics(path: str, begin: int, end: int) -> dict[int, str]:
    """What objdump reads, by address."""
    ran = subprocess.run(
        ["objdump", "-d", "-M", "intel", "--no-show-raw-insn", f"--start-address={begin}",
         f"--stop-address={end}", path],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = re.findall(r"^ *([0-9a-f]+):\t(\w+)", ran.stdout, re.MULTILINE)
    return {int(address, 16): mnemonic for address, mnemonic in lines}


def test_the_code_around_a_difference_is_objdumps(library: Audit) -> None:
    """A few lines around each, the one that differs among them."""
    compared = 0
    for found in library.differences[:10]:
        assert found.address in [address for address, _ in found.code]
        begin, end = found.code[0][0], found.code[-1][0] + 16
        shown = mnemonics(library.file, begin, end)
        for address, text in found.code:
            if text and address in shown:
                mnemonic = text.split()[0]
                assert SAME.get(mnemonic, mnemonic) == shown[address]
                compared += 1
    assert compared > 10


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("/nowhere/file", "cannot be opened"),
        (__file__, "is not an ELF file"),
        (str(Path(__file__).parent), "is a directory"),
    ],
)
def test_errors(path: str, complaint: str) -> None:
    with pytest.raises(Error, match=complaint):
        audit_file(path)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), "audit", *arguments],
        env=dict(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_on_the_command_line() -> None:
    ran = run("/bin/true", "--limit", "0", "--json")
    assert ran.returncode == 0, ran.stderr
    document: dict[str, Any] = json.loads(ran.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert document["file"] == "/bin/true"
    assert document["differences"] == []
    lines = run("/bin/true").stdout.splitlines()
    assert lines[0].startswith("/bin/true: ")
    assert "First differences" not in run("/bin/true", "--limit", "0").stdout


def test_a_file_without_tables_is_refused_with_the_remedy(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    sections = ["--remove-section=.eh_frame", "--remove-section=.eh_frame_hdr"]
    subprocess.run(["objcopy", *sections, "/bin/true", bare], check=True)
    ran = run(str(bare))
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"whocall: {bare}: has no unwind tables")
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.parametrize("arguments", [(), ("/bin/true", "--limit", "-1"), ("/bin/true", "x")])
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).returncode == 2
