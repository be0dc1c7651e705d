"""The JSON forms against their schemas."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from literals import frame, frames, report, trace

import whocall
from whocall.base.model import STOP_REASONS, TRUST, Frame
from whocall.report.form.jsonform import backtrace_json, frame_json, mi_value, text

SCHEMAS = Path(whocall.__file__).parent / "schema"


def schema(word: str, version: int = 1) -> dict[str, Any]:
    return json.loads((SCHEMAS / f"{word}-{version}.json").read_text())


def validate(document: dict[str, Any], word: str) -> None:
    version = int(document["schema"].rpartition("/")[2])
    jsonschema.Draft202012Validator(schema(word, version)).validate(document)


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.json")), ids=lambda path: path.stem)
def test_schemas_are_schemas_that_leave_nothing_open(path: Path) -> None:
    found = json.loads(path.read_text())
    jsonschema.Draft202012Validator.check_schema(found)
    word, version = path.stem.rsplit("-", 1)
    assert found["properties"]["schema"] == {"const": f"whocall.{word}/{version}"}
    assert_closed(found)


def assert_closed(part: Any) -> None:
    if isinstance(part, list):
        for item in part:
            assert_closed(item)
    elif isinstance(part, dict):
        if "properties" in part:
            assert part["additionalProperties"] is False
            assert sorted(part["required"]) == sorted(part["properties"])
        for value in part.values():
            assert_closed(value)


def test_frames_are_the_same_everywhere() -> None:
    assert schema("compare")["$defs"]["frame"] == schema("backtrace")["$defs"]["frame"]


def document(chain: list[Frame], reason: str = "end-of-stack") -> dict[str, Any]:
    """A backtrace of these frames."""
    thread = {
        "number": 1,
        "lwp": 4242,
        "name": None,
        "crashed": False,
        "signal": None,
        "frames": [frame_json(one) for one in chain],
        "stop": {"reason": reason, "detail": None},
    }
    return {
        "schema": "whocall.backtrace/1",
        "arch": "x86_64",
        "source": {"core": None, "exe": None, "origin": None},
        "warnings": [],
        "threads": [thread],
    }


def test_a_frame_literally() -> None:
    assert frame_json(frames()[3]) == {
        "level": 3,
        "pc": "0x401186",
        "cfa": "0x7ffe0040",
        "function": "main",
        "offset": 10,
        "name_source": "symtab",
        "inferred": False,
        "aliases": [],
        "module": "/opt/prog",
        "build_id": "99a6",
        "rva": "0x1186",
        "trust": "cfi",
        "rests_on": None,
        "evidence": ["call-before"],
        "inlined": False,
        "signal_trampoline": False,
        "source": {"file": "t.c", "line": 9},
        "source_hints": [],
    }
    validate(document(frames()), "backtrace")


def test_what_does_not_apply_is_null() -> None:
    bare = frame(0, 0, None, "context", cfa=None, module=None, build_id=None, rva=None, offset=None)
    validate(document([bare]), "backtrace")
    nulls = [key for key, value in frame_json(bare).items() if value is None]
    assert nulls == ["cfa", "function", "offset", "name_source", "module", "build_id", "rva",
                     "rests_on", "source"]  # fmt: skip


@pytest.mark.parametrize("reason", STOP_REASONS)
def test_every_stop_reason_is_in_the_schema(reason: str) -> None:
    validate(document(frames(), reason), "backtrace")


@pytest.mark.parametrize("trust", TRUST)
def test_every_trust_is_in_the_schema(trust: str) -> None:
    validate(document([replace(frames()[0], trust=trust)]), "backtrace")


def test_text_ends_with_a_newline_and_reads_back() -> None:
    found = document(frames())
    assert text(found).endswith("}\n")
    assert json.loads(text(found)) == found


def test_backtraces_that_nobody_walked_are_refused() -> None:
    for write in (backtrace_json, whocall.backtrace_text):
        with pytest.raises(whocall.Error, match="as a process image gives them"):
            write(report(trace()))


def test_a_frame_above_a_guess_names_it() -> None:
    assert frame_json(frame(2, 0x401149, "f", rests_on=1))["rests_on"] == 1


def test_machine_interface_values_are_strings_and_null_is_absent() -> None:
    value = {"a": None, "b": [1, True, "x", {"c": None, "d": False}], "e": {}, "f": []}
    expected = {"b": ["1", "true", "x", {"d": "false"}], "e": {}, "f": []}
    assert mi_value(value) == expected
