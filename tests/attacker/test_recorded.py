"""Hostile names in minidumps, records of crashes and traces, archives of libraries, lists of names
and PE files: as many again as in programs and cores, each in some of the forms that read such.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from attacker import specimen
from attacker.names import MARK, NAMES
from attacker.outputs import said
from attacker.recorded import FIELDS, complaints, outputs_of
from attacker.told import UNSEEN

FORMS = 2  # of each input


@pytest.mark.parametrize("field", FIELDS)
def test_no_name_is_obeyed(field: str, tmp_path: Path) -> None:
    found = []
    forms = list(outputs_of(field))
    for number, (word, name) in enumerate(NAMES.items()):
        place = tmp_path / str(number)
        place.mkdir()
        made = FIELDS[field](place, name)
        for at in range(FORMS):
            form = forms[(FORMS * number + at) % len(forms)]
            found += [f"{word}: {each}" for each in complaints(made, field, form)]
    assert found == []


@pytest.mark.parametrize("field", sorted(FIELDS.keys() - UNSEEN))
def test_the_name_is_read_at_all(field: str, tmp_path: Path) -> None:
    """So that the judges see it."""
    made = FIELDS[field](tmp_path, MARK + b"/plain")
    shown = ""
    for words, _ in outputs_of(field).values():
        told = [{"{file}": str(made[0]), "{search}": made[1]}.get(word, word) for word in words]
        shown += said(told)[0]
    assert MARK.decode() in shown


def test_there_are_as_many_as_are_promised() -> None:
    assert len(NAMES) * (len(specimen.FIELDS) + len(FIELDS)) >= 400
