"""What commands say and write is the same with the sandbox and without."""

from __future__ import annotations

import gzip
import http.client
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import pytest
from faults.commands import SCRIPT, Place, lines_of, run

PACKERS = {
    "zst": ["zstd", "-q", "-c"], "lz4": ["lz4", "-q", "-c"], "xz": ["xz", "-0", "-c"],
    "bz2": ["bzip2", "-c"],
}  # fmt: skip


def more_lines(place: Place) -> dict[str, list[str | Path]]:
    """What needs temporary files, outputs and gdb."""
    packed = place.folder.parent / f"{place.folder.name}-packed.gz"
    if not packed.exists():
        packed.write_bytes(gzip.compress(place.core.read_bytes()))
    others = [place.folder.parent / f"{place.folder.name}.{kind}" for kind in PACKERS]
    for path, packer in zip(others, PACKERS.values()):
        if not path.exists():
            path.write_bytes(subprocess.check_output([*packer, place.core]))
    store = place.folder / "store.sqlite"
    exe, core, folder = place.exe, place.core, place.folder
    return {
        **lines_of(place),
        "bt packed": ["bt", packed, exe],
        "bt packed otherwise": ["bt", *others],
        "bt nothing": ["bt", folder / "nothing"],
        "compare packed": ["compare", packed, exe],
        "compare no gdb": ["compare", core, "--search", "no\nfolder"],
        "report": ["report", core, packed, "--exe", exe, "-o", folder / "page.html"],
        "report nowhere": ["report", core, "-o", folder / "no" / "page.html"],
        "triage store": ["triage", core, packed, "--store", store, "-j", "2"],
        "triage reports": ["triage", core, "--reports", folder / "reports", "-o", folder / "out"],
        "trace": ["trace", place.trace, "-o", folder / "tree"],
        "shrink packed": ["shrink", packed, exe, "-o", folder / "shrunk"],
        "unpack": ["unpack", packed, "-o", folder / "unpacked"],
        "unpack to stdout": ["unpack", packed, "-o", "/dev/stdout"],
    }


NAMES = [
    "audit", "bt", "bt --all", "bt --json", "bt --list", "bt nothing", "bt packed",
    "bt packed otherwise", "caller", "compare", "compare no gdb", "compare packed", "export",
    "functions", "modules", "repair-plan", "report", "report nowhere", "resolve",
    "resolve --json", "shrink", "shrink packed", "signatures", "symbol", "trace", "triage",
    "triage --json", "triage reports", "triage store", "unpack", "unpack to stdout", "waits", "why",
]  # fmt: skip


def taken(folder: Path) -> dict[str, bytes]:
    """The files of a folder, which are removed."""
    found = {}
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir():
            path.rmdir()
            continue
        found[str(path.relative_to(folder))] = path.read_bytes()
        path.unlink()
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_same_bytes(name: str, place: Place, tmp_path_factory: pytest.TempPathFactory) -> None:
    temporary = tmp_path_factory.mktemp("temporary")
    answers = []
    for more in ([], ["--no-sandbox"]):
        ran = run([*more_lines(place)[name], *more], env={"TMPDIR": str(temporary)})
        written = taken(place.folder)
        written.pop("store.sqlite", None)  # has times in it
        new = {key: text for key, text in written.items() if not key.endswith(".symbols")}
        said = [re.sub(r'"cost_us": \d+', "", ran.stdout), ran.stderr]
        for file in written:  # symbol files have names that nobody chooses
            if file.endswith(".symbols"):
                said = [text.replace(file, "a.symbols") for text in said]
        answers.append((ran.returncode, said, new))
    assert answers[0] == answers[1]
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("gdb", [[], ["--gdb"]])
def test_pages_are_served(gdb: list[str], place: Place) -> None:
    (place.folder / "core.1").write_bytes(place.core.read_bytes())
    (place.folder / "core.2.gz").write_bytes(gzip.compress(place.core.read_bytes()))
    pages = []
    for more in ([], ["--no-sandbox"]):
        command = [sys.executable, SCRIPT, "serve", place.folder, "--port", "0", *gdb, *more]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                address = urlsplit(server.stdout.readline().split()[0])
                pages.append([asked(address, path) for path in ("", "report/core.1?json")])
            finally:
                server.send_signal(signal.SIGINT)
        assert server.returncode == 0
    assert pages[0] == pages[1]
    assert "core.2.gz" in pages[0][0]
    assert ('"gdb":{' in pages[0][1].replace(" ", "")) == bool(gdb)


def asked(address: SplitResult, path: str) -> str:
    """A page of the server's, whose address ends in its token."""
    connection = http.client.HTTPConnection(address.netloc, timeout=60)
    connection.request("GET", address.path + path)
    return connection.getresponse().read().decode()
