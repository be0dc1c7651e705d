"""Judges what became of a log: by the source of the program, and by addr2line on its twin."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

from acceptance.helpers.source_programs import Chain, addr2line
from acceptance.logs.log_programs import FUNCTIONS, resolved, true_lines

SCHEMA = Path(__file__).resolve().parents[3] / "gdbext" / "whocall" / "schema" / "resolve-1.json"

Document = dict[str, Any]


@cache
def _validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))


def document(log: str, *words: str | Path, **variables: str) -> Document:
    """What --json prints, which is as the schema says."""
    done = resolved(log, "--json", *words, **variables)
    assert done.returncode == 0, done.stderr
    found: Document = json.loads(done.stdout)
    _validator().validate(found)
    return found


def chain(place: Document) -> Chain:
    """Its inlined calls and its function, innermost first."""
    return [
        (each["function"], Path(each["file"] or "?").name, each["line"] or 0)
        for each in place["source"]
    ]


def within(found: Document, module: str) -> list[Document]:
    """The places in a module, by the last part of its path."""
    return [each for each in found["places"] if Path(each["module"] or "?").name == module]


def judge(
    found: Document, full: Path, module: str = "prog", functions: Sequence[str] = FUNCTIONS
) -> list[Document]:
    """The places in the module: they are the program's true stack, and each is as addr2line has it
    on the twin with symbols; of what a call returns to, one byte before.
    """
    places = within(found, module)
    true = true_lines(functions)
    told = [step for place in places for step in chain(place)]
    at = next((at for at in range(len(told)) if told[at : at + 1] == true[:1]), 0)
    assert told[at : at + len(true)] == true
    looked_up = [int(each["rva"], 16) - each["is_return_address"] for each in places]
    known = [_nothing_unknown(each) for each in addr2line(full, looked_up)]
    assert [chain(place) for place in places if place["source"]] == [each for each in known if each]
    return places


def _nothing_unknown(steps: Chain) -> Chain:
    return [] if steps[0][2] == 0 else steps
