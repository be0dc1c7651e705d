"""Cores of a few bugs in builds of several compilers, through the whole line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema

from triage.conftest import PACKAGE, Run, names, results_of
from triage.crashes import Crashed
from triage.scores import score

SCHEMA = json.loads((PACKAGE / "whocall" / "schema" / "triage-1.json").read_text())


def truth_of(cores: list[Crashed]) -> dict[str, str]:
    return {str(each.core): each.bug for each in cores}


def test_buckets_are_the_bugs(cores: list[Crashed], run: Run) -> None:
    told = json.loads(run("-", "--format", "json", given=names(cores)).stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(told)
    found = score(truth_of(cores), {row["path"]: row["bucket"] for row in told["results"]})
    assert found.precision == 1.0
    assert found.recall >= 0.95
    assert told["failed"] == 0
    assert sum(bucket["count"] for bucket in told["buckets"]) == len(cores) == 24
    for bucket in told["buckets"]:
        for counted in bucket["counts"].values():
            assert sum(item["count"] for item in counted) == bucket["count"]
        assert "#0 " in bucket["representative"]["backtrace"]


def test_severity_message_and_the_called_function(cores: list[Crashed], run: Run) -> None:
    told = json.loads(run("-", "--format", "json", given=names(cores)).stdout)
    bug_of = truth_of(cores)
    buckets = {bug_of[bucket["representative"]["path"]]: bucket for bucket in told["buckets"]}
    kinds = {bug: bucket["kind"] for bug, bucket in buckets.items()}
    assert kinds == {
        "ledger/0": "SourceAvNearNull",
        "ledger/2": "AbortSignal",
        "netd/0": "SourceAvNearNull",
        "netd/1": "SourceAvNearNull",
        "netd/4": "HeapError",
        "archive/0": "SourceAvNearNull",
    }
    assert "Assertion" in buckets["ledger/2"]["message"]
    assert "overdrawn" in buckets["ledger/2"]["message"]
    assert "double free" in buckets["netd/4"]["message"]
    assert buckets["netd/4"]["called"] == "free"
    assert [item["value"] for item in buckets["netd/4"]["counts"]["host"]] == ["host-1"]


def test_what_is_new_is_told_across_builds(cores: list[Crashed], run: Run, tmp_path: Path) -> None:
    older, newer = tmp_path / "older", tmp_path / "newer"
    builds = sorted({each.build for each in cores})
    known = ("ledger/0", "netd/4", "archive/0")
    run("-", "--store", older, given=names([
        each for each in cores if each.build == builds[0] and each.bug in known
    ]))  # fmt: skip
    later = [each for each in cores if each.build != builds[0]]
    text = run(
        "-", "--store", newer, "--compare", older, "--format", "json", given=names(later)
    ).stdout
    told = json.loads(text)
    bug_of = truth_of(cores)
    new = {bug_of[bucket["representative"]["path"]]: bucket["new"] for bucket in told["buckets"]}
    assert new == {bug: bug not in known for bug in new}
    assert len(new) == 6
    shown = run("--store", newer, "--compare", older).stdout
    assert "3 of them new" in shown
    assert shown.count("\nNEW ") == 3


def test_a_core_that_cannot_be_read_is_a_row(
    cores: list[Crashed], run: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "crashes"
    folder.mkdir()
    good = shutil.copy(cores[0].core, folder / "good.core")
    whole = Path(good).read_bytes()
    (folder / "cut.core").write_bytes(whole[:100])
    (folder / "empty.core").write_bytes(b"")
    (folder / "core.noise").write_bytes(bytes(range(256)) * 16)
    (folder / "notes.txt").write_text("no crash")
    shutil.copy("/bin/true", folder / "program")
    rows = results_of(run(folder, "--format", "json").stdout)
    assert {Path(path).name for path in rows} == {
        "good.core", "cut.core", "empty.core", "core.noise",
    }  # fmt: skip
    assert rows[str(folder / "good.core")]["reason"] is None
    for name in ("cut.core", "empty.core", "core.noise"):
        reason = rows[str(folder / name)]["reason"]
        assert reason.startswith(str(folder / name)), reason
    shown = run(folder).stdout
    assert "3 could not be read" in shown
    assert "empty.core: the file is empty" in shown


def test_a_name_that_is_nowhere_is_an_error(run: Run) -> None:
    said = run("/no/such/folder", status=1).stderr
    assert said == (
        "whocall: /no/such/folder: there is no such file or directory; name cores or directories\n"
    )
    assert "name cores" in run(status=2).stderr


def test_a_store_that_is_something_else_is_left_alone(run: Run, tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("these are notes, and no database at all\n" * 40)
    said = run("/bin", "--store", other, status=1).stderr
    assert "cannot be used as a store" in said
    assert other.read_text().startswith("these are notes")
    assert "there is no such file" in run("--compare", tmp_path / "none", "/bin", status=1).stderr
