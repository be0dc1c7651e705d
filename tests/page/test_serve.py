"""`whocall serve`: on the loopback interface, for its own name, read-only, with no way out."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from causes.programs import SOURCES, core_of

from page.chromium import Browser
from whocall.base.errors import Error
from whocall.cli.core_server import Cores, CoreServer
from whocall.cli.main import main
from whocall.cli.parsing import parse_command
from whocall.report.page import document
from whocall.report.page.document import crash_json


@pytest.fixture(scope="module")
def folder(place: Path) -> Path:
    """Two cores, one of them below a folder with a strange name, and what is none."""
    made = place / "served"
    core = core_of(SOURCES["null-call"], made / "a & <b>" / "program")
    core.rename(made / "a & <b>" / "core.1")
    other = core_of(SOURCES["abort"], place / "elsewhere" / "program")
    shutil.copy(other, made / "core.2")
    (made / "notes.txt").write_text("no core")
    (made / "leads-out").symlink_to(other)
    return made


def arguments(folder: Path) -> SimpleNamespace:
    found = parse_command(["serve", str(folder)])
    assert found is not None
    found.title = ""
    return found


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[CoreServer]:
    with CoreServer(Cores(str(folder), arguments(folder)), 0) as started:
        thread = threading.Thread(target=started.serve_forever, daemon=True)
        thread.start()
        yield started
        started.shutdown()


class Answer:
    """What the server said."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.text = response.read().decode()


def asked(server: CoreServer, path: str, method: str = "GET", host: str | None = None) -> Answer:
    """Behind the token."""
    return asked_bare(server, f"/{server.token}{path}", method, host)


def asked_bare(server: CoreServer, path: str, method: str, host: str | None = None) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{server.server_port}")
    connection.endheaders()
    return Answer(connection.getresponse())


def test_the_index_and_a_report_in_a_browser(browser: Browser, server: CoreServer) -> None:
    root = server.address
    browser.open(root)
    assert browser.requests() == [root]
    rows = "return [...document.querySelectorAll('.crashes tbody th')].map((a) => a.innerText)"
    names = browser.js(rows)
    assert sorted(names) == ["a & <b>/core.1", "core.2"]
    assert browser.violations() == []
    browser.click(".crashes tbody tr:last-child th a")
    browser.settle()
    assert "was ended by" in browser.text("h1")
    browser.open(root + "report/a%20%26%20%3Cb%3E/core.1")
    browser.settle()
    assert "null function pointer" in browser.text("h1")
    assert browser.messages() == []


def test_the_data_is_served_too(server: CoreServer) -> None:
    said = asked(server, "/report/core.2?json")
    assert said.headers["Content-Type"].startswith("application/json")
    assert json.loads(said.text)["crashes"][0]["happened"]["signal"] == "SIGABRT"


def test_what_would_have_cost_too_much_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the page of the core of which it was left out."""
    from whocall.cli import core_server

    monkeypatch.setattr(core_server, "left_out", lambda: ["Names are left out."])
    told = Cores(str(folder), arguments(folder)).report("core.2", as_json=True)
    assert told is not None
    assert "Names are left out" in json.loads(told)["crashes"][0]["left_out"]


def test_other_hosts_are_refused(server: CoreServer) -> None:
    port = server.server_port
    for host in ("example.org", f"example.org:{port}", f"127.0.0.1.example.org:{port}",
                 "127.0.0.1:1", f"[::1]:{port}", " "):  # fmt: skip
        assert asked(server, "/", host=host).status == 403, host
    assert asked(server, "/", host=f"LocalHost:{port}").status == 200


def test_without_the_token_nothing_is_told(server: CoreServer) -> None:
    """Every user of the machine reaches the port, and cores are their user's alone."""
    token = server.token
    for path in ("/", "/report/core.2", "/report/core.2?json", f"/{token[:-1]}/", f"/{token}x/",
                 f"/?token={token}", f"/x/{token}/", "/caf%e9/"):  # fmt: skip
        for method in ("GET", "HEAD"):
            said = asked_bare(server, path, method)
            assert said.status == 403, path
            assert "core.2" not in said.text
    assert "the address that `whocall serve` printed" in asked_bare(server, "/", "GET").text
    assert len(token) >= 40


def test_a_core_whose_name_is_not_utf_8(server: CoreServer, folder: Path) -> None:
    strange = Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.core"))
    strange.write_bytes((folder / "core.2").read_bytes())
    try:
        index = asked(server, "/")
        assert index.status == 200
        assert 'href="report/caf%E9.core"' in index.text
        assert "was ended by" in asked(server, "/report/caf%E9.core").text
        assert json.loads(asked(server, "/report/caf%E9.core?json").text)["crashes"]
    finally:
        strange.unlink()


def test_a_fault_of_ours_is_an_answer(server: CoreServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server.cores, "entries", lambda: 1 // 0)
    said = asked(server, "/")
    assert said.status == 500
    assert said.text.startswith("whocall failed: ZeroDivisionError: ")


def test_it_listens_to_this_machine_alone(server: CoreServer) -> None:
    assert server.server_address[0] == "127.0.0.1"


def test_no_path_leads_out(server: CoreServer, folder: Path) -> None:
    for path in (
        "/report/../elsewhere/core", "/report/..%2felsewhere%2fcore", "/report//etc/passwd",
        "/report/%2e%2e/elsewhere/core", f"/report/{folder}/core.2", "/report/leads-out",
        "/report/notes.txt", "/report/", "/core.2", "/report/core.2/", "/report/core.2%00",
        "/etc/passwd", "/report/./core.2",
    ):  # fmt: skip
        assert asked(server, path).status == 404, path


def test_nothing_can_be_sent(server: CoreServer) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert asked(server, "/", method).status == 501
    assert asked(server, "/", "HEAD").text == ""


def test_every_answer_forbids_frames_and_guesses(server: CoreServer) -> None:
    for path in ("/", "/report/core.2", "/nothing"):
        headers = asked(server, path).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Cache-Control"] == "no-store"
        assert "whocall" in headers["Server"] and "Python" not in headers["Server"]


def test_a_damaged_core_is_a_row_with_its_reason(server: CoreServer, folder: Path) -> None:
    damaged = folder / "damaged"
    damaged.write_bytes((folder / "core.2").read_bytes()[:70])
    try:
        assert "damaged" in asked(server, "/").text
        said = asked(server, "/report/damaged")
        assert said.status == 422
        assert str(damaged) in said.text
    finally:
        damaged.unlink()


def test_what_cannot_be_served_is_a_sentence(
    tmp_path: Path, server: CoreServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", str(tmp_path / "missing")]) == 1
    assert "is no directory" in capsys.readouterr().err
    assert main(["serve", os.fspath(tmp_path), "--port", str(server.server_port)]) == 1
    assert "choose another by --port" in capsys.readouterr().err


def test_a_core_that_is_cut_short_while_it_is_read(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server lives on, and says so instead of a report; nothing of it is kept."""
    core = Path(shutil.copy(folder / "core.2", tmp_path))
    contents = core.read_bytes()

    def cut_and_go_on(*arguments: Any) -> Any:
        os.truncate(core, 4096)
        return crash_json(*arguments)

    cores = Cores(str(tmp_path), arguments(tmp_path))
    with monkeypatch.context() as patched:
        patched.setattr(document, "crash_json", cut_and_go_on)
        with pytest.raises(Error, match="core.2 became shorter while it was read"):
            cores.report("core.2", False)
    core.write_bytes(contents)
    assert "SIGABRT" in (cores.report("core.2", False) or "")
