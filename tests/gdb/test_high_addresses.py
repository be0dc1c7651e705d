"""A 32-bit program: its libraries lie above the middle of the address space, and one of them lies
below the addresses that it was linked at.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest
from answers import checked
from programs import Crash, build, compiled
from sessions import SCRIPT, Answer, asked

PLAIN = "-m32 -O1 -fno-asynchronous-unwind-tables -fomit-frame-pointer"
MOVED = f"{PLAIN} -fPIC -shared -fno-optimize-sibling-calls -Wl,-Ttext-segment=0xfff00000"
LIBRARY = """
int below(int *p) { return *p + 1; }
int moved(int *p) { return below(p) + 1; }
"""
PROGRAM = "int moved(int *p); int main(void) { return moved(0) + 1; }"
FUNCTIONS = "whocall functions -module libmoved.so -json"
SYMBOL = "whocall symbol $pc (int)$pc"
QUESTIONS = (
    FUNCTIONS,
    "whocall functions -module libc.so.6 ^qsort$",
    SYMBOL,
    "whocall modules -json",
    "whocall bt -json",
    "info symbol $pc",
)


@pytest.fixture(scope="module")
def crash(tmp_path_factory: pytest.TempPathFactory) -> Crash:
    folder = tmp_path_factory.mktemp("high")
    compiled(folder, "libmoved.so", LIBRARY, MOVED)
    subprocess.run(["strip", folder / "libmoved.so"], check=True)
    linked = f"-Wl,--no-as-needed -L{folder} -lmoved -Wl,-rpath,{folder}"
    return build(folder, "caller", PROGRAM, f"{PLAIN} {linked}")


@pytest.fixture(scope="module")
def answers(crash: Crash) -> dict[Any, Answer]:
    return asked(QUESTIONS, [crash.exe, crash.core])


def addresses(found: Any) -> list[int]:
    """All hexadecimal numbers of a document."""
    return [int(text, 16) for text in re.findall(r'"(-?0x[0-9a-f]+)"', json.dumps(found))]


@pytest.mark.parametrize("question", [FUNCTIONS, "whocall modules -json", "whocall bt -json"])
def test_no_address_is_negative_or_wider_than_a_pointer(
    answers: dict[Any, Answer], question: str
) -> None:
    found = addresses(checked(answers[question].out))
    assert found
    assert all(0 <= address < 1 << 32 for address in found)
    assert max(found) >= 1 << 31


def test_functions_stand_where_frames_are(answers: dict[Any, Answer]) -> None:
    (table,) = json.loads(answers[FUNCTIONS].out)["modules"]
    places = {each["name"]: int(each["start"], 16) for each in table["functions"]}
    inner, outer, *_ = json.loads(answers["whocall bt -json"].out)["threads"][0]["frames"]
    for frame, name in ((inner, "below"), (outer, "moved")):
        assert frame["function"] == name
        assert int(frame["pc"], 16) == places[name] + frame["offset"]
    moved = next(
        each
        for each in json.loads(answers["whocall modules -json"].out)["modules"]
        if each["path"].endswith("libmoved.so")
    )
    assert moved["bias"] == table["bias"]
    assert (0xFFF00000 + int(table["bias"], 16)) & 0xFFFFFFFF == int(moved["begin"], 16)


def test_text_has_eight_digits(answers: dict[Any, Answer]) -> None:
    lines = answers["whocall functions -module libc.so.6 ^qsort$"].out.splitlines()[1:]
    assert lines
    assert all(re.match(r"0x[89a-f][0-9a-f]{7} 0x[89a-f][0-9a-f]{7} ", line) for line in lines)


def test_an_address_may_be_given_as_a_negative_number(answers: dict[Any, Answer]) -> None:
    plain, negative = answers[SYMBOL].out.splitlines()
    assert plain == negative
    assert " is below (+" in plain


def test_the_command_line_says_the_same(crash: Crash, answers: dict[Any, Answer]) -> None:
    ran = subprocess.run(
        [sys.executable, SCRIPT, "functions", crash.core, "--exe", crash.exe, "--json",
         "--module", "libmoved.so"],
        env=dict(os.environ), capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert ran.stdout == answers[FUNCTIONS].out


def test_a_repaired_gdb_has_the_names_there(crash: Crash) -> None:
    said = asked([("whocall repair", "bt", "info symbol sub_fff01149")], [crash.exe, crash.core])
    (answer,) = said.values()
    names = re.findall(r"^#\d+ +(?:0x\w+ in )?(\S+) \(", answer.out, re.MULTILINE)
    assert names == ["below", "moved", "main"]
    assert "sub_fff01149 in section .text" in answer.out
