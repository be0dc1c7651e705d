"""Some four hundred hostile names in fields of programs, cores and file names, each in some of the
forms, so that each form meets each field and each name: nothing is shown as other than it is.

All of them in all forms, and more names, made of pieces of these: `python3 -m attacker` in `tests`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from attacker.judges import strings_of_json, styled
from attacker.names import NAMES
from attacker.outputs import OUTPUTS, complaints, page_complaints, said
from attacker.specimen import FIELDS, specimen

FORMS = 3  # of each specimen
TRUE = ("frame", "styles", "turned", "no utf-8", "tags", "json", "every control")


@pytest.mark.parametrize("field", FIELDS)
def test_no_name_is_obeyed(field: str, tmp_path: Path) -> None:
    found = []
    forms = list(OUTPUTS)
    for number, (word, name) in enumerate(NAMES.items()):
        of = specimen(tmp_path / str(number), field, name)
        first = number * FORMS + FIELDS.index(field)
        chosen = ["bt", *(forms[(first + at) % len(forms)] for at in range(FORMS))]
        for form in dict.fromkeys(chosen):
            found += [f"{word}: {each}" for each in complaints(of, form)]
    assert found == []


@pytest.mark.parametrize("field", FIELDS)
def test_no_name_holds_a_style(field: str, tmp_path: Path) -> None:
    """In whatever place of a line with colours it stands."""
    of = specimen(tmp_path / "styles", field, NAMES["styles"])
    forms = [form for form, (_, judge) in OUTPUTS.items() if judge is styled]
    assert [each for form in forms for each in complaints(of, form)] == []


@pytest.mark.parametrize("field", FIELDS)
def test_nor_on_the_page(field: str, tmp_path: Path) -> None:
    found = []
    for number, word in enumerate(("frame", "script", "turned", "no utf-8")):
        of = specimen(tmp_path / str(number), field, NAMES[word])
        found += [f"{word}: {each}" for each in page_complaints(of, tmp_path)]
    assert found == []


@pytest.mark.parametrize("word", TRUE)
def test_json_has_the_true_name(word: str, tmp_path: Path) -> None:
    for number, field in enumerate(("symbol", "source", "thread", "folder", "core name")):
        of = specimen(tmp_path / str(number), field, NAMES[word])
        out, _ = said(["bt", str(of.core), str(of.exe), "--json", "--all"])
        true = os.fsdecode(of.true)
        assert any(true in each for each in strings_of_json(out)), field
