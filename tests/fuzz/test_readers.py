"""The readers' fuzzers in short: every target takes its seeds and some hundred mutations."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fuzz import coverage, readers
from fuzz.reader_mutations import mutated, record_sums, tar_sums
from fuzz.reader_seeds import record, seeds, tar
from whocall.base.errors import Error
from whocall.triage.store import Store

# What a whole input may still lack.
HARMLESS = ("the cores of 2 crashes are gone", "what is in it is in no format")
PACKAGE = Path(__file__).resolve().parents[2] / "gdbext" / "whocall"
TESTS = Path(__file__).resolve().parents[1]
# Readers of what comes from elsewhere: each is the subject of a target.
READERS = (
    *("container_images/container.py", "dumps/tar_members.py", "container_images/layers.py"),
    *("container_images/merged_tree.py", "dumps/systemd_coredumps.py", "dumps/abrt.py"),
    *("dumps/streams.py", "dumps/arrival.py", "base/elf_head.py", "resolve/record.py"),
    *("resolve/facts/maps.py", "resolve/log.py", "triage/store.py"),
)


@pytest.mark.parametrize("name", readers.TARGETS)
def test_some_mutations(tmp_path: Path, name: str) -> None:
    """In a process of its own, whose memory is limited."""
    words = [name, "--plain", "--count", "400", "--seed", "7", "--findings", str(tmp_path)]
    ran = subprocess.run(
        [sys.executable, "-m", "fuzz.run_reader", *words],
        cwd=TESTS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert "400 executions" in ran.stdout


def test_coverage_is_counted_by_file() -> None:
    said = """COVERED_FUNC: hits: 3 edges: 5/8 a::b(int, char) /x/native/tracing/a.cpp:7
  UNCOVERED_PC: /x/native/tracing/a.cpp:9
UNCOVERED_FUNC: hits: 0 edges: 0/2 a::c() /x/native/tracing/a.cpp:20
COVERED_FUNC: hits: 3 edges: 1/1 a::d() /x/native/base/b.cpp:20
"""
    (found,) = coverage.counted(said, ("tracing/",))
    assert (found.file, found.covered, found.all) == ("tracing/a.cpp", 5, 10)


def test_every_native_target_has_subjects() -> None:
    targets = {path.stem for path in (TESTS / "fuzz").glob("*.cpp")}
    assert targets == set(coverage.SUBJECTS)


@pytest.mark.parametrize("name", readers.TARGETS)
def test_seeds_are_whole(name: str) -> None:
    """What a mutation begins with is nothing that a reader turns down at once."""
    for seed in seeds(name):
        try:
            readers.TARGETS[name](seed)
        except Error as error:
            assert any(words in str(error) for words in HARMLESS)


def test_every_reader_has_a_target() -> None:
    told = {subject for subjects in readers.SUBJECTS.values() for subject in subjects}
    forms = {
        f"resolve/formats/{path.name}"
        for path in (PACKAGE / "resolve" / "formats").glob("*.py")
        if path.name not in ("__init__.py", "known.py")
    }
    assert {*READERS, *forms} <= told
    assert [subject for subject in told if not (PACKAGE / subject).exists()] == []


def test_another_error_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_data: bytes) -> None:
        raise KeyError("x")

    monkeypatch.setitem(readers.TARGETS, "maps", broken)
    with pytest.raises(KeyError):
        readers.run("maps", b"")


def test_a_store_whose_names_are_no_text(tmp_path: Path) -> None:
    """sqlite3 quotes them where it complains."""
    (whole,) = seeds("triage_store")
    damaged = whole.replace(b"signatures", b"sign\xc1tures").replace(
        b"CREATE TABLE", b"CREATE\xc1TABLE"
    )
    (tmp_path / "store").write_bytes(damaged)
    with pytest.raises(Error, match="cannot be used as a store of results"):
        Store(str(tmp_path / "store"))


@pytest.mark.parametrize(
    "line", [b"3", b"null", b"[" * 60000, b'{"COREDUMP_COMM": [97, 300]}', b'{"COREDUMP_PID": {}}']
)
def test_entries_that_make_no_sense(line: bytes) -> None:
    (whole,) = seeds("journal")
    readers.run("journal", line + b"\n" + whole)


def test_sums_are_made_right() -> None:
    whole = bytearray(tar(("a", b"b")))
    before = bytes(whole)
    whole[148:156] = bytes(8)
    tar_sums(whole)
    assert int(whole[148:154], 8) == int(before[148:154], 8)
    damaged = bytearray(record())
    damaged[20:24] = bytes(4)
    record_sums(damaged)
    assert bytes(damaged) == record()


def test_mutations_can_be_repeated() -> None:
    (seed, *_) = seeds("journal")
    assert mutated("journal", seed, 5, 4096) == mutated("journal", seed, 5, 4096)
    assert len({mutated("journal", seed, number, 1 << 16) for number in range(50)}) > 40
