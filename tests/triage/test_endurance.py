"""What goes wrong on the way takes nothing from what was done."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from triage.conftest import Run, command, environment, names, results_of
from triage.crashes import Crashed
from whocall.base.errors import Error
from whocall.triage import workers
from whocall.triage.work import Settings

WAIT = 60  # seconds for what happens at once


HANGING = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int open64(const char *path, int flags, ...) {
  static int (*next)(const char *, int, ...);
  const char *end = strrchr(path, '/');
  struct stat found;
  if (end && strcmp(end, "/pipe.core") == 0 && stat(path, &found) == 0 && S_ISFIFO(found.st_mode))
    for (;;) pause();
  if (!next) next = dlsym(RTLD_NEXT, "open64");
  return next(path, flags, 0600);
}
"""


@pytest.fixture
def pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A core that never comes, as on a disk that hangs: whoever opens it waits. (Nothing of
    whocall's opens a fifo: the C library that its processes get waits in their place.)
    """
    made = tmp_path / "hanging"
    made.mkdir()
    (made / "hanging.c").write_text(HANGING)
    library = made / "hanging.so"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-O1", made / "hanging.c", "-o", library, "-ldl"], check=True
    )
    monkeypatch.setenv("LD_PRELOAD", str(library))
    path = tmp_path / "pipe.core"
    os.mkfifo(path)
    return path


@contextmanager
def running(tmp_path: Path, given: str, *arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    (tmp_path / "temporary").mkdir()
    process = subprocess.Popen(
        command("-", "--format", "json", *arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment(tmp_path / "cache"), "TMPDIR": str(tmp_path / "temporary")},
    )
    assert process.stdin is not None
    process.stdin.write(given)
    process.stdin.close()
    process.stdin = None
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def worker_at(path: Path, tmp_path: Path, known: set[int]) -> int:
    """The process that works at `path` and is none of `known`."""
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        for note in (tmp_path / "temporary").glob("**/whocall-triage-*/*"):
            try:
                if note.read_text().endswith(str(path)) and int(note.name) not in known:
                    return int(note.name)
            except OSError:
                continue
        time.sleep(0.02)
    raise AssertionError(f"nobody works at {path}")


def test_a_killed_worker_loses_nothing(cores: list[Crashed], pipe: Path, tmp_path: Path) -> None:
    """At the second try the core is there."""
    given = f"{pipe}\n{names(cores)}"
    with running(tmp_path, given, "-j", "2") as process:
        worker = worker_at(pipe, tmp_path, set())
        pipe.unlink()
        pipe.write_bytes(cores[0].core.read_bytes())
        os.kill(worker, signal.SIGKILL)
        out, err = process.communicate(timeout=WAIT)
    assert process.returncode == 0, err
    rows = results_of(out)
    assert len(rows) == len(cores) + 1
    assert [row["reason"] for row in rows.values()] == [None] * len(rows)


def test_a_core_that_kills_again_and_again_is_a_row(
    cores: list[Crashed], pipe: Path, tmp_path: Path
) -> None:
    given = f"{pipe}\n{names(cores)}"
    with running(tmp_path, given, "-j", "2") as process:
        killed: set[int] = set()
        for _ in range(3):
            worker = worker_at(pipe, tmp_path, killed)
            os.kill(worker, signal.SIGKILL)
            killed.add(worker)
        out, err = process.communicate(timeout=WAIT)
    assert process.returncode == 0, err
    rows = results_of(out)
    assert rows.pop(str(pipe))["reason"] == "the process that read it died, again and again"
    assert len(rows) == len(cores)
    assert {row["reason"] for row in rows.values()} == {None}


def test_a_core_that_hangs_is_a_row(cores: list[Crashed], pipe: Path, run: Run) -> None:
    given = f"{pipe}\n{names(cores)}"
    rows = results_of(run("-", "--format", "json", "--time-limit", "10", given=given).stdout)
    assert rows.pop(str(pipe))["reason"] == "it takes longer than 10 s; see --time-limit"
    assert len(rows) == len(cores)
    assert {row["reason"] for row in rows.values()} == {None}


def test_ctrl_c_keeps_what_was_done(cores: list[Crashed], pipe: Path, tmp_path: Path) -> None:
    """Though a worker hangs."""
    from whocall.triage.store import Store

    store = tmp_path / "store"
    with running(tmp_path, f"{pipe}\n{names(cores)}", "-j", "2", "--store", store) as process:
        worker_at(pipe, tmp_path, set())
        deadline = time.monotonic() + WAIT
        while time.monotonic() < deadline and total_of(store) < len(cores):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=WAIT) == 130
    opened = Store(str(store), read_only=True)
    assert opened.total() == len(cores)
    opened.close()


def total_of(store: Path) -> int:
    """How many results a store has whose run goes on."""
    from whocall.base.errors import Error
    from whocall.triage.store import Store

    try:
        opened = Store(str(store), read_only=True)
        total = opened.total()
    except (Error, sqlite3.Error):  # not made yet
        return 0
    opened.close()
    return total


def test_a_run_is_taken_up_from_the_store(cores: list[Crashed], run: Run, tmp_path: Path) -> None:
    """Cores whose results are there are not opened again: theirs are gone."""
    from whocall.triage.store import Store

    copies = [tmp_path / f"{number}.core" for number in range(8)]
    for copy, crashed in zip(copies, cores):
        copy.write_bytes(crashed.core.read_bytes())
    store = tmp_path / "store"
    first = run(*copies[:5], "--store", store, "--format", "json").stdout
    for copy in copies[:5]:
        status = copy.stat()
        copy.write_bytes(bytes(status.st_size))
        os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
    second = results_of(run(*copies, "--store", store, "--format", "json").stdout)
    assert len(second) == 8
    assert {row["reason"] for row in second.values()} == {None}
    assert (
        results_of(first).items()
        <= {path: row for path, row in second.items() if path in results_of(first)}.items()
    )
    copies[0].write_bytes(b"changed")  # another size and time: another core
    third = results_of(run(*copies, "--store", store, "--format", "json").stdout)
    assert [path for path, row in third.items() if row["reason"]] == [str(copies[0])]
    opened = Store(str(store), read_only=True)
    assert (opened.total(), opened.failed()) == (8, 1)
    opened.close()


def test_a_full_disk_loses_nothing_that_was_done(
    cores: list[Crashed], run: Run, tmp_path: Path
) -> None:
    """The limit on the size of files stands for it: writes fail as there."""
    from whocall.triage.store import Store

    store = tmp_path / "store"

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100 << 10, 100 << 10))

    text = names(cores)
    full = run("-", "--store", store, given=text, status=1, preexec_fn=little_room)
    assert full.stdout.startswith("24 cores: 6 buckets; 0 could not be read")
    assert "results have no room there" in full.stderr
    opened = Store(str(store), read_only=True)
    kept = opened.total()
    assert 0 < kept < len(cores)
    opened.close()
    again = run("-", "--store", store, given=text)
    assert again.stdout.startswith("24 cores: 6 buckets; 0 could not be read")
    opened = Store(str(store), read_only=True)
    assert opened.total() == len(cores)
    opened.close()


def test_what_is_known_of_a_program_is_found_once(cores: list[Crashed], tmp_path: Path) -> None:
    """By the build id: in the process, and on disk by the next one."""
    from whocall.base.file_search import Search
    from whocall.triage.examine import examine
    from whocall.triage.facts import Facts

    tmp_path.chmod(0o700)
    netd = [each for each in cores if each.program == "netd" and each.build == cores[0].build]
    facts = Facts(tmp_path)
    examine(str(netd[0].core), Search(), facts)
    read = facts.read
    assert read > 0
    examine(str(netd[0].core), Search(), facts)
    assert facts.read == read
    found = [examine(str(each.core), Search(), facts)["frames"] for each in netd]
    known = Facts(tmp_path)
    assert [examine(str(each.core), Search(), known)["frames"] for each in netd] == found
    assert known.read == 0


def test_workers_that_cannot_begin_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where no process may be added. Workers are copies here, and end at once."""
    monkeypatch.setattr(workers, "is_confined", lambda: True)
    monkeypatch.setattr(workers, "_begin", lambda memory: os._exit(1))
    with pytest.raises(Error, match="die before they begin"):
        list(workers.Local(2, Settings()).results(["one.core", "another.core"]))
