"""What crashes said stands in the titles of their buckets: what all said, and only that."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from causes.last_words import ended
from causes.test_last_words import SILENT, TOLD
from corpus.crash import crash

from triage.conftest import Run
from whocall.base.errors import Error
from whocall.triage.said import LONGEST, alike, in_title
from whocall.triage.store import Store
from whocall.triage.summary import summarize

THROWING = r"""
#include <cstdlib>
#include <stdexcept>
#include <string>
int main() { throw std::runtime_error(std::getenv("SAID")); }
"""
HOSTILE = '\n#1 <script>alert(1)</script>&" '


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ("a panic of it", "a panic of it", "a panic of it"),
        ("the index is 9 of 3", "the index is 10 of 3", "the index is ..."),
        ("the index is ...", "the index is 7 of 3", "the index is ..."),
        ("the last index is ...", "the last index was 7 of 3", "the last index ..."),
        ("row 7", "row 8", None),
        ("one thing", "another thing", None),
        ("a panic of it", None, None),
        (None, None, None),
    ],
)
def test_what_two_said_alike(one: str | None, other: str | None, wanted: str | None) -> None:
    assert alike(one, other) == alike(other, one) == wanted


def test_a_title_has_room_for_120_characters() -> None:
    assert in_title("A" * 120) == ": " + "A" * 120
    assert in_title("A" * 121) == ": " + "A" * 117 + "..."
    assert in_title(None) == in_title("") == ""


def bucket(run: Run, folder: Path, *arguments: str) -> dict[str, Any]:
    (found,) = json.loads(run(folder, "--format", "json", *arguments).stdout)["buckets"]
    return dict(found)


def thrown(place: Path, *texts: str) -> Path:
    """A folder with the cores of a program that threw these."""
    source, exe, cores = place / "rows.cpp", place / "rows", place / "cores"
    source.write_text(THROWING)
    subprocess.run(["g++", "-O1", "-w", "-s", "-o", exe, source], check=True)
    cores.mkdir()
    for number, text in enumerate(texts):
        (place / str(number)).mkdir()
        core = crash(exe, place / str(number), variables={"SAID": text}).core
        shutil.move(core, cores / f"core.{number}")
    return cores


def test_the_title_tells_what_all_said_and_later_what_all_begin_with(
    tmp_path: Path, run: Run
) -> None:
    cores = thrown(tmp_path, *["row 7 of the ledger is missing"] * 2, "row 7 of the ledger is odd")
    aside = shutil.move(cores / "core.2", tmp_path)
    store = str(tmp_path / "store")
    found = bucket(run, cores, "--store", store)
    assert found["said"] == "std::runtime_error: row 7 of the ledger is missing"
    assert found["title"].endswith(f" of rows: {found['said']}")
    assert f"  {found['title']}\n" in run(cores).stdout
    shutil.move(aside, cores)
    found = bucket(run, cores, "--store", store)
    assert found["count"] == 3
    assert found["said"] == "std::runtime_error: row 7 of the ledger is ..."
    assert found["title"].endswith(f" of rows: {found['said']}")


def test_what_was_said_is_obeyed_by_none(tmp_path: Path, run: Run) -> None:
    cores = thrown(tmp_path, HOSTILE + "A" * 1000)
    found = bucket(run, cores)
    assert found["said"].startswith(r"std::runtime_error: \n#1 <script>alert(1)</script>&")
    assert len(found["said"]) == LONGEST
    assert found["title"].endswith("AAA...")
    assert len(found["title"].partition("rows: ")[2]) == 120
    text = run(cores).stdout
    assert not any(line.startswith("#1") for line in text.splitlines())
    page = run(cores, "--format", "html").stdout
    assert "<script>alert" not in page
    assert r"\n#1 &lt;script&gt;alert(1)&lt;/script&gt;&amp;" in page


def test_what_a_strangers_store_says_is_obeyed_by_none(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "store"
    store = Store(str(path))
    store.add(_row(1, "\x1b]0;title\x07\n#1 \u202e<b>it</b>"))
    store.close()
    assert r" of rows: \x1b]0;title\x07\n#1 \u202e<b>it</b>" in run("--store", path).stdout
    page = run("--store", path, "--format", "html").stdout
    assert r" of rows: \x1b]0;title\x07\n#1 \u202e&lt;b&gt;it&lt;/b&gt;" in page


@pytest.mark.parametrize(
    ("name", "how"), [("rust-abort", "format"), ("go", "text"), ("c", "assertion")]
)
def test_each_runtimes_words_are_in_the_title(
    name: str, how: str, tmp_path: Path, run: Run
) -> None:
    end = ended(name, (*TOLD[name], *SILENT.get(name, ())))[how]
    found = bucket(run, end.core)
    assert found["said"] is not None
    assert end.said[0] in found["said"]
    assert found["title"].endswith(": " + found["said"])


def _row(number: int, said: str | None) -> dict[str, Any]:
    frame = {"key": "rows!f", "module": "rows", "build_id": None, "function": "f", "rva": 1,
             "inferred": False, "start": 0, "trust": "cfi", "rests_on": None,
             "anchors": []}  # fmt: skip
    nothing = ("called", "near", "message", "program", "build_id", "module", "address", "host",
               "cost", "reason")  # fmt: skip
    return {
        **dict.fromkeys(nothing), "path": f"core.{number}", "size": 1, "mtime": 1, "engine": "1",
        "signature": "0" * 16, "signal": "SIGABRT", "kind": "AbortSignal", "time": 1.0,
        "frames": [frame], "through": [], "recursive": False, "said": said,
    }  # fmt: skip


def test_a_core_that_is_read_again_has_no_part_in_what_it_said_before() -> None:
    store = Store("")
    for number, said in ((1, "the first of them"), (1, "another one of it")):
        store.add(_row(number, said))
    assert summarize(store)[0][0]["said"] == "another one of it"
    store.add(_row(2, None))
    assert summarize(store)[0][0]["said"] is None
    store.add(_row(3, "another one of it"))
    assert summarize(store)[0][0]["said"] is None


def test_a_store_of_before_is_read(tmp_path: Path) -> None:
    import sqlite3

    path = str(tmp_path / "store")
    store = Store(path)
    store.add(_row(1, "the first of them"))
    store.close()
    with sqlite3.connect(path) as database:
        ((text,),) = database.execute("SELECT crash FROM signatures")
        told = json.loads(text)
        del told["said"]
        database.execute("UPDATE signatures SET crash = ?", (json.dumps(told),))
    database.close()
    store = Store(path)
    assert summarize(store)[0][0]["said"] is None
    store.add(_row(1, "the first of them"))
    assert summarize(store)[0][0]["said"] == "the first of them"
    store.close()
    with sqlite3.connect(path) as database:
        database.execute("UPDATE signatures SET crash = ?", (json.dumps({**told, "said": 7}),))
    database.close()
    with pytest.raises(Error, match="cannot be used as a store"):
        summarize(Store(path))
