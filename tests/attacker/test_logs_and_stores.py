"""Hostile names in logs, in directories that are served, and in stores of many crashes."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote

import pytest

from attacker import judges
from attacker.names import NAMES
from attacker.outputs import said
from attacker.specimen import specimen
from whocall.cli.core_server import Cores, CoreServer
from whocall.cli.parsing import parse_command

LINES = (
    b"#0  0x0000000000001180 in %s () from %s",
    b"    #1 0x401136 in %s (%s+0x1180)",
    b"%s(%s+0x10) [0x401136]",
    b"goroutine 1 [%s]:\nmain.main()\n\t%s:7 +0x1d",
    b"#00 pc 0000000000001180  %s (%s+16)",
    b"thread '%s' panicked at %s:1:2:",
    b"BUG: %s: unable to handle %s",
)


@pytest.mark.parametrize("word", NAMES)
def test_a_log_is_told_and_not_obeyed(word: str, tmp_path: Path) -> None:
    """What was a line of the log stays one: a line feed in it made two."""
    name = NAMES[word]
    for number, line in enumerate(LINES):
        log = tmp_path / f"{number}.log"
        log.write_bytes(line.replace(b"%s", name) + b"\n")
        out, err = said(["resolve", str(log), "--color=always"])
        assert [*judges.letters(out.replace("\r\n", "\n"), "\n\t"), *judges.plain(err)] == []
        assert out.count("\n") == log.read_bytes().count(b"\n")
        out, err = said(["resolve", str(log), "--json"])
        assert [*judges.data(out), *judges.plain(err)] == []


@contextmanager
def served(folder: Path) -> Iterator[CoreServer]:
    arguments = parse_command(["serve", str(folder)])
    assert arguments is not None
    arguments.title = ""
    server = CoreServer(Cores(str(folder), arguments), 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_served_pages_show_names_as_text(tmp_path: Path) -> None:
    folder = tmp_path / "cores"
    folder.mkdir()
    names = {}
    for number, word in enumerate(("frame", "turned", "no utf-8", "comment", "quotes", "clear")):
        of = specimen(tmp_path / str(number), "thread", NAMES[word])
        name = os.fsdecode(NAMES[word].replace(b"/", b"|"))
        shutil.copy(of.core, folder / name)
        names[word] = name
    with served(folder) as server:
        for path in ["/", *(f"/report/{quote(name, errors='surrogateescape')}"
                            for name in names.values())]:  # fmt: skip
            connection = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
            connection.request("GET", f"/{server.token}{path}")
            answer = connection.getresponse()
            body = answer.read().decode("utf-8")
            assert answer.status == 200, (path, body)
            assert [*judges.page(body)] == [], path
            connection.close()


def test_many_crashes_in_all_forms(tmp_path: Path) -> None:
    folder = tmp_path / "cores"
    for number, word in enumerate(("frame", "turned", "no utf-8", "script", "styles")):
        for field in ("symbol", "folder", "path in core", "message"):
            specimen(folder / f"{number}{field}", field, NAMES[word])
    (folder / os.fsdecode(NAMES["clear"])).write_bytes(b"\x7fELF")
    store = str(tmp_path / "store")
    forms = {
        "text": judges.plain,
        "json": judges.data,
        "html": judges.page,
        "sarif": judges.shown_data,
    }
    for form, judge in forms.items():
        out, err = said(["triage", str(folder), "--store", store, "--format", form, "-j", "2"])
        assert [*judge(out), *judges.plain(err)] == [], form
        assert form == "sarif" or "Zq" in out, form  # it names what stands for a bucket alone
    out, _ = said(["triage", "--store", store, "--color=always"])
    assert [*judges.styled(out)] == []
    out, _ = said(["triage", "--store", store, "--format", "json"])
    assert json.loads(out)["cores"] >= 20
