"""Stores of results that somebody else made, and clocks that are wrong."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from guards import guarded

from faults.commands import SCRIPT, Place, run
from whocall.base.errors import Error
from whocall.triage.run import conclude
from whocall.triage.store import Store
from whocall.triage.tables import Guarded, StrangeStoreError

ENDLESS = """WITH RECURSIVE endless(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless)
 SELECT 'x' AS path, 1 AS size, 1 AS mtime, 'e' AS engine, NULL AS reason, NULL AS signature,
 NULL AS program, NULL AS build_id, NULL AS module, NULL AS signal, NULL AS kind,
 NULL AS address, NULL AS host, n AS time, 1 AS cost FROM endless"""


def changed(statement: str) -> Callable[[sqlite3.Connection], None]:
    return lambda database: database.executescript(statement)


def a_crash(**fields: object) -> Callable[[sqlite3.Connection], None]:
    """Other values in the first crash."""

    def change(database: sqlite3.Connection) -> None:
        ((text,),) = database.execute("SELECT crash FROM signatures")
        database.execute(
            "UPDATE signatures SET crash = ?", [json.dumps({**json.loads(text), **fields})]
        )
        database.commit()

    return change


STRANGE: dict[str, Callable[[sqlite3.Connection], None]] = {
    "an endless view": changed(
        f"ALTER TABLE cores RENAME TO other; CREATE VIEW cores AS {ENDLESS}"
    ),
    "a trigger": changed(
        "CREATE TRIGGER t AFTER INSERT ON cores BEGIN DELETE FROM signatures; END"
    ),
    "another table": changed("CREATE TABLE more (x)"),
    "a kind that is none": changed("UPDATE cores SET kind = 'Worse'"),
    "no kind": changed("UPDATE cores SET kind = NULL"),
    "a number for a kind": changed("UPDATE cores SET kind = x'00ff'"),
    "bytes for a time": changed("UPDATE cores SET time = x'00'"),
    "a time without end": changed("UPDATE cores SET time = 9e999"),
    "text for a cost": changed("UPDATE cores SET cost = 'dear'"),
    "a signature that is a path": changed(
        "UPDATE cores SET signature = '../../../x'; UPDATE signatures SET signature = '../../../x'"
    ),
    "a signature of nothing": changed("DELETE FROM signatures"),
    "no JSON": changed("UPDATE signatures SET crash = 'x'"),
    "deep JSON": changed("UPDATE signatures SET crash = " + f"'{'[' * 100_000}'"),
    "bytes for JSON": changed("UPDATE signatures SET crash = x'ff00'"),
    "a crash of a kind that is none": a_crash(kind="Worse"),
    "frames that are none": a_crash(frames=[1]),
    "no frames": a_crash(frames=None),
    "words that are none": a_crash(through=[1]),
}


@pytest.fixture(scope="module")
def whole(chain: object, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store as whocall makes it, which nobody changes."""
    made = tmp_path_factory.mktemp("whole") / "store"
    core = chain.core  # type: ignore[attr-defined]
    assert run(["triage", core, "--store", made]).returncode == 0
    return made


@pytest.fixture
def store(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(whole, tmp_path / "store"))


def test_a_store_is_made_in_one_step(tmp_path: Path) -> None:
    """Who is killed while it is made leaves none, or a whole one."""
    told: list[str] = []

    class Watched(Guarded):
        def __init__(self, path: str) -> None:
            super().__init__(path)
            self.inner.set_trace_callback(lambda said: told.append(said.strip()))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("whocall.triage.store.Guarded", Watched)
        Store(str(tmp_path / "store")).close()
    made = [
        at for at, said in enumerate(told) if said.startswith(("CREATE", "PRAGMA user_version ="))
    ]
    begin = max(at for at, said in enumerate(told) if said.startswith("BEGIN") and at < made[0])
    end = min(at for at, said in enumerate(told) if said.startswith("COMMIT") and at > begin)
    assert begin < made[0] and made[-1] < end


def test_a_store_is_its_users_alone(whole: Path) -> None:
    assert whole.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("what", STRANGE)
def test_a_strange_store_is_refused_in_words(what: str, store: Path) -> None:
    database = sqlite3.connect(store)
    STRANGE[what](database)
    database.close()
    with guarded(), pytest.raises(Error, match="cannot be used as a store of results") as error:
        conclude(Store(str(store)))
    assert str(store) in str(error.value)
    with guarded(), pytest.raises(Error, match="cannot be used as a store of results"):
        conclude(Store(""), str(store))


def test_a_strange_store_on_the_command_line(store: Path) -> None:
    database = sqlite3.connect(store)
    STRANGE["an endless view"](database)
    database.close()
    ran = run(["triage", "--store", store])
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"whocall: {store}: cannot be used as a store of results: ")


def test_a_question_without_end_has_one(store: Path) -> None:
    """Whatever passes the look at the tables: statements have a bound."""
    database = Guarded(str(store))
    counting = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    )
    with guarded(), pytest.raises(StrangeStoreError, match="takes for ever"):
        list(database.rows(counting))
    database.only_ours()
    with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
        list(database.rows(counting))
    with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
        database.run("ATTACH '/tmp/other' AS other")


def test_a_store_whose_bytes_are_damaged(store: Path) -> None:
    """A sentence or an answer."""
    whole = store.read_bytes()
    answers = 0
    for at in range(0, len(whole), 97):
        store.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            opened = Store(str(store))
            conclude(opened)
            opened.close()
            answers += 1
        except Error as error:
            assert "cannot be used as a store" in str(error)
    assert answers > 0


@pytest.mark.parametrize(("form", "year"), [("text", 2263), ("json", 2300), ("html", 2400)])
def test_a_core_of_another_century(form: str, year: int, place: Place) -> None:
    core = Path(shutil.copy(place.core, place.folder / "core"))
    subprocess.run(["touch", "-d", f"{year}-01-01", core], check=True)
    if not str(core.stat().st_mtime_ns).startswith(("9", "1")):
        pytest.fail("the file system keeps no such time")
    words = ["triage", core, "--format", form, "--store", place.folder / "store"]
    first = run(words)
    assert (first.returncode, "Traceback" in first.stderr) == (0, False), first.stderr
    again = run(words)  # out of the store
    assert again.stdout.replace("store", "") == first.stdout.replace("store", "")
    assert f"{year}-" in first.stdout or form == "text" or str(year) in first.stdout


def test_moments_that_no_calendar_has() -> None:
    from whocall.base.timestamps import moment
    from whocall.report.page.index_page import Entry
    from whocall.triage.summary import instant

    assert moment(0, "%Y") == "1970"
    assert instant(253402300800) == "253402300800 s after 1970"
    assert Entry("core", 1, 1e18).time_text.endswith("s after 1970")


def test_no_folder_is_left_behind(place: Place, tmp_path: Path) -> None:
    """Neither of a run that fails, nor of one that was killed before."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    dead = subprocess.Popen(["true"])
    dead.wait()
    (temporary / f"whocall-triage-{dead.pid}-x").mkdir()
    (temporary / f"whocall-triage-{os.getpid()}-x").mkdir()
    ran = run(["triage", place.core], env={"TMPDIR": str(temporary)})
    assert ran.returncode == 0
    assert [path.name for path in temporary.iterdir()] == [f"whocall-triage-{os.getpid()}-x"]


def test_a_worker_that_wants_more_memory_than_it_may_have(place: Place) -> None:
    ran = run(["triage", place.core, "--memory-limit", "30"])
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr
    assert "could not be read" in ran.stdout


@pytest.mark.parametrize("words", [["bt", "{core}", "{exe}"], ["triage", "{core}"]])
def test_a_home_directory_is_not_made(words: list[str], place: Place, tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path / "none")}
    del environment["XDG_CACHE_HOME"]
    given = [word.format(core=place.core, exe=place.exe) for word in words]
    ran = subprocess.run(
        [sys.executable, SCRIPT, *given], env=environment, capture_output=True, text=True,
        check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert not (tmp_path / "none").exists()
