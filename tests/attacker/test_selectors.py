"""Names that stand in a language's own tables: an Objective-C method's selector may be anything."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from artifact_cache import Tool, kept, machine
from oracles.tools import run

from attacker.names import NAMES
from attacker.outputs import OUTPUTS, complaints, page_complaints, said
from attacker.specimen import Specimen, fitting

PLACE = b"selector_" + b"s" * 55
SOURCE = f"""
#include <objc/Object.h>
#include <objc/runtime.h>
#include <stdlib.h>
@interface Hostile : Object
- (int) {PLACE.decode()};
@end
@implementation Hostile
- (int) {PLACE.decode()} {{ abort(); return 0; }}
@end
int main(void) {{
  id one = class_createInstance(objc_getClass("Hostile"), 0);
  return [one {PLACE.decode()}] + 1;
}}
"""


def _built(place: Path) -> dict[str, Path]:
    from corpus.crash import crash

    exe = place / "program"
    folder = Path(run(["gcc", "-print-libgcc-file-name"]).strip()).parent
    include = run(["gcc", "-print-file-name=include"]).strip()
    subprocess.run(
        ["gcc", "-O1", "-s", f"-I{include}", "-x", "objective-c", "-", "-o", str(exe), "-lobjc",
         f"-L{folder}"],
        input=SOURCE, text=True, check=True,
    )  # fmt: skip
    return {"exe": exe, "core": crash(exe, place).core}


def specimen(place: Path, name: bytes) -> Specimen:
    files = kept(("hostile selectors", SOURCE, Tool("gcc"), machine()), _built)
    place.mkdir(parents=True)
    true = fitting(name, len(PLACE))
    made = {}
    for kind, path in files.items():
        made[kind] = place / path.name
        made[kind].write_bytes(path.read_bytes().replace(PLACE, true))
        made[kind].chmod(0o755)
    assert true in made["exe"].read_bytes()
    return Specimen(made["core"], made["exe"], "selector", true)


def test_the_method_is_named(tmp_path: Path) -> None:
    of = specimen(tmp_path / "plain", b"Zqplain")
    out, _ = said(["bt", str(of.core), str(of.exe)])
    assert f"in -[Hostile {of.true.decode()}]" in out


@pytest.mark.parametrize("part", range(4))
def test_no_selector_is_obeyed(part: int, tmp_path: Path) -> None:
    found = []
    forms = list(OUTPUTS)
    for number, (word, name) in enumerate(NAMES.items()):
        if number % 4 != part:
            continue
        of = specimen(tmp_path / str(number), name)
        chosen = ["bt", *(forms[(3 * number + at) % len(forms)] for at in range(3))]
        for form in dict.fromkeys(chosen):
            found += [f"{word}: {each}" for each in complaints(of, form)]
    assert found == []


def test_nor_on_the_page(tmp_path: Path) -> None:
    of = specimen(tmp_path / "page", NAMES["script"])
    assert [*page_complaints(of, tmp_path)] == []
