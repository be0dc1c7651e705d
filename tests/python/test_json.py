"""The JSON forms against their schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from literals import frame, frames, report, trace

import whocall
from whocall.core.model import STOP_REASONS, TRUST, Frame, Report, Stop
from whocall.report.form.jsonform import backtrace_json, backtrace_text, mi_value, text

SCHEMAS = Path(whocall.__file__).parent / "schema"


def schema(word: str) -> dict[str, Any]:
    return json.loads((SCHEMAS / f"{word}-1.json").read_text())


def validate(document: dict[str, Any], word: str) -> None:
    jsonschema.Draft202012Validator(schema(word)).validate(document)


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


def test_backtrace_literally() -> None:
    document = backtrace_json(report(trace(frames()[3:4])))
    assert document == {
        "schema": "whocall.backtrace/1",
        "arch": "x86_64",
        "source": {"core": "/tmp/core", "exe": "/opt/prog", "origin": None},
        "warnings": [],
        "threads": [
            {
                "number": 1,
                "lwp": 4242,
                "name": "prog",
                "crashed": True,
                "signal": "SIGSEGV",
                "frames": [
                    {
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
                    }
                ],
                "stop": {"reason": "end-of-stack", "detail": "_start"},
            }
        ],
    }
    validate(document, "backtrace")


def test_what_does_not_apply_is_null() -> None:
    bare = frame(0, 0, None, "context", cfa=None, module=None, build_id=None, rva=None, offset=None)
    naked = trace([bare], name="", crashed=False, signal=None, stop=Stop("no-caller"))
    document = backtrace_json(report(naked, core=None, exe=None))
    validate(document, "backtrace")
    found = document["threads"][0]
    assert document["source"] == {"core": None, "exe": None, "origin": None}
    assert (found["name"], found["signal"], found["stop"]["detail"]) == (None, None, None)
    nulls = [key for key, value in found["frames"][0].items() if value is None]
    assert nulls == ["cfa", "function", "offset", "name_source", "module", "build_id", "rva",
                     "rests_on", "source"]  # fmt: skip


@pytest.mark.parametrize("reason", STOP_REASONS)
def test_every_stop_reason_is_in_the_schema(reason: str) -> None:
    validate(backtrace_json(report(trace(stop=Stop(reason)))), "backtrace")


@pytest.mark.parametrize("trust", TRUST)
def test_every_trust_is_in_the_schema(trust: str) -> None:
    validate(backtrace_json(report(trace([replace(frames()[0], trust=trust)]))), "backtrace")


def test_text_ends_with_a_newline_and_reads_back() -> None:
    document = backtrace_json(report())
    assert text(document).endswith("}\n")
    assert json.loads(text(document)) == document


ODD = 'a "b"\\ \n\t\x00\x1f\x7f ä \udcff \U0001f600 </script>'
DOCUMENTS = [
    report(),
    report(trace(frames()[:1]), trace([]), warnings=("one", ODD)),
    report(trace([], name="", signal=None), core=None),
    replace(report(), threads=()),
    report(trace([frame(0, 7, ODD, aliases=("a", ODD), file=ODD, line=None, module=ODD)])),
    report(trace([frame(4, 7, "f", rests_on=3, evidence=(), inlined=True, line=3)])),
]


@pytest.mark.parametrize("found", DOCUMENTS)
def test_a_report_is_written_in_pieces_as_it_would_be_whole(found: Report) -> None:
    pieces = list(backtrace_text(found))
    assert "".join(pieces) == text(backtrace_json(found))
    assert len(pieces) > sum(len(trace.frames) for trace in found.threads)


def test_frames_are_taken_as_they_are_written() -> None:
    taken: list[int] = []

    class Watched(list[Frame]):
        def __iter__(self) -> Iterator[Frame]:
            for found in super().__iter__():
                taken.append(found.level)
                yield found

    pieces = backtrace_text(report(trace(Watched(frames()))))
    while "sub_1139" not in next(pieces):
        pass
    assert taken == [0]


def test_a_frame_above_a_guess_names_it() -> None:
    document = backtrace_json(report(trace([frame(2, 0x401149, "f", rests_on=1)])))
    validate(document, "backtrace")
    assert document["threads"][0]["frames"][0]["rests_on"] == 1


def test_machine_interface_values_are_strings_and_null_is_absent() -> None:
    value = {"a": None, "b": [1, True, "x", {"c": None, "d": False}], "e": {}, "f": []}
    expected = {"b": ["1", "true", "x", {"d": "false"}], "e": {}, "f": []}
    assert mi_value(value) == expected
