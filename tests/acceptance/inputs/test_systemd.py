"""The store and the journal of the real systemd-coredump, which keeps our crash."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from places import mounts
from places.needs import OWN_MOUNTS, require

from acceptance.helpers.front_ends import WHOCALL
from acceptance.inputs.crashes import TOOLS, Chains, Crash, chains, ran, valid
from whocall.base.errors import Error
from whocall.dumps.systemd_coredumps import StoredCrash, crashes

SCRIPT = Path(__file__).with_name("systemd.sh")


@dataclass(frozen=True)
class Store:
    """What systemd-coredump has kept."""

    cores: Path
    journal: Path
    said: str  # by coredumpctl

    def told(self, *arguments: str | Path, command: str = "bt") -> str:
        """`whocall bt` on this store, or another command."""
        places = ["--store", self.cores, "--journal", self.journal]
        return ran([sys.executable, WHOCALL, command, *places, *arguments])


@pytest.fixture(scope="module")
def store(plain: Crash, tmp_path_factory: pytest.TempPathFactory) -> Store:
    tools, folder = TOOLS / "systemd", tmp_path_factory.mktemp("store")
    waits = folder / "waits"
    shutil.copy("/bin/sleep", waits)
    runs = folder / "runs"
    runs.write_text(f"#!/bin/sh\nexec {waits} 60\n")
    runs.chmod(0o755)
    require(OWN_MOUNTS)
    ran([sys.executable, mounts.__file__, "bash", SCRIPT, tools, runs, plain.core, folder])
    said = (folder / "said").read_text()
    assert "Storage:" in said, (folder / "socket.log").read_text()
    return Store(folder / "coredump", folder / "journal", said)


def test_a_core_of_the_store_is_the_core(store: Store, true_chains: Chains) -> None:
    (core,) = store.cores.iterdir()
    assert core.suffix == ".zst"
    assert chains(core) == true_chains


def test_systemds_own_frames_are_ours(store: Store, true_chains: Chains) -> None:
    stacks = re.split(r"Stack trace of thread \d+:", store.said)[1:]
    pcs = [[int(pc, 16) for pc in re.findall(r"#\d+\s+(0x[0-9a-f]+)", stack)] for stack in stacks]
    assert sorted([[pc for pc, _ in chain] for chain in true_chains]) == sorted(pcs)


def test_list_last_and_crash(store: Store) -> None:
    (core,) = store.cores.iterdir()
    pid = core.name.split(".")[4]
    heading, row = store.told("--list").splitlines()
    assert heading.split() == ["TIME", "PID", "UID", "SIGNAL", "CORE", "UNIT", "EXE"]
    assert re.search(rf" {pid} +0 +SIGSEGV +there +- +/.*/waits$", row)
    last = store.told("--last")
    assert re.match(
        rf"/.*/waits \(pid {pid}\): SIGSEGV, .* UTC, host \S+\n(?s:.*)\n#0 .* innermost ", last
    )
    for which in (pid, "waits", row.split()[-1]):
        assert store.told("--crash", which) == last
    nothing = subprocess.run(
        [sys.executable, WHOCALL, "bt", "--store", store.cores, "--crash", "no.service"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert nothing.returncode == 1 and "knows no crash of no.service" in nothing.stderr


@pytest.mark.parametrize(("command", "options"), [("bt", "--list, --last"), ("why", "--last")])
def test_either_a_core_or_one_that_is_kept(command: str, options: str) -> None:
    words = [sys.executable, WHOCALL, command, "core", "--last"]
    refused = subprocess.run(words, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert refused.stderr == f"whocall: {options} and --crash take no CORE and no --pid\n"


def test_why_of_a_crash_that_is_kept(store: Store) -> None:
    (core,) = store.cores.iterdir()
    said = store.told("--last", command="why")
    assert " was ended by SIGSEGV in innermost at " in said
    assert said == store.told("--crash", core.name.split(".")[4], command="why")


def test_the_fields_of_the_journal_are_kept(store: Store) -> None:
    document = json.loads(store.told("--last", "--json"))
    valid("backtrace", document)
    valid("crashes", json.loads(store.told("--list", "--json")))
    origin = document["source"]["origin"]
    assert origin["signal_name"] == "SIGSEGV" and origin["cwd"].startswith("/")
    assert "/waits" in origin["proc_maps"] and origin["hostname"]


def test_what_a_crash_is_called_by() -> None:
    crash = StoredCrash("", {"pid": "7", "comm": "prog", "exe": "/opt/prog", "unit": "a.service"})
    for which in ("7", "prog", "/opt/prog", "a.service"):
        assert crash.matches(which)
    for which in ("", "pro", "opt/prog", "service", "77"):
        assert not crash.matches(which)


def test_without_a_journal_the_files_tell(store: Store, tmp_path: Path) -> None:
    shutil.copytree(store.cores, tmp_path / "cores")
    listed = ran([sys.executable, WHOCALL, "bt", "--list", "--store", tmp_path / "cores"])
    assert "SIGSEGV" in listed and listed.rstrip().endswith("/waits")


def test_a_damaged_journal_is_told(tmp_path: Path) -> None:
    """journalctl passes over such a file, and says that all went well."""
    (tmp_path / "system.journal").write_bytes(b"LPKSHHRH" + bytes(range(256)) * 100)
    with pytest.raises(Error, match=r"cannot read the journal in .*; --store DIR alone"):
        crashes(journal=str(tmp_path))


def test_a_journal_that_is_damaged_in_part_is_told(store: Store, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    shutil.copytree(store.journal, journal)
    whole: list[str] = []
    expected = crashes(str(store.cores), str(journal), complaints=whole)
    (journal / "older.journal").write_bytes(b"LPKSHHRH" + bytes(range(256)) * 100)
    said: list[str] = []
    assert crashes(str(store.cores), str(journal), complaints=said) == expected
    assert not whole and len(said) == 1
    assert re.match(r"journalctl cannot read all of the journal in .*; crashes, or", said[0])
