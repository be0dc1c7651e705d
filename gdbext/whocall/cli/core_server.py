"""The server of `whocall serve`: an index of cores, and a report on each.

It is bound to the loopback interface and answers only those who ask for that by name: a page from
elsewhere whose name was made to lead here (DNS rebinding) is refused. Every user of the machine
reaches that interface, and cores are often their user's alone: each address begins with a token
that only who started the server was told. (No cookie holds it, as those go to other ports too.)
What a request names is looked up in the list of the directory's cores, never opened as a path.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from secrets import compare_digest, token_urlsafe
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from whocall.base.cut_files import whole_files
from whocall.base.errors import Error
from whocall.base.long_work import left_out, working
from whocall.base.printable import printable
from whocall.cli.crash_list import Glance, buckets_of, glance_of, seen
from whocall.cli.inputs import is_core
from whocall.cli.isolated import done_apart
from whocall.cli.outputs import complain
from whocall.report.page.index_page import Entry, index_text

if TYPE_CHECKING:
    from whocall.cli.arguments import Values

MOST_LISTED = 1_000  # the latest
LOOKING = 12.0  # seconds that a list may wait for cores that nobody has looked at yet
MOST_KEPT = 8  # reports

_NO_TOKEN = "Open the address that `whocall serve` printed: it holds a token.\n"

Json = dict[str, Any]
Stamp = tuple[str, int, int]  # name, size, time of the last change
Buckets = tuple[list[Json], dict[str, str]]  # and the id of that which each core is in

HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Cores:
    """The cores of a directory, and their reports as far as they are kept."""

    def __init__(self, directory: str, arguments: Values) -> None:
        self._root = Path(directory)
        if not self._root.is_dir():
            raise Error(f"{directory}: is no directory; name the one in which the cores lie")
        self.directory = directory
        self._arguments = arguments
        self._reports: OrderedDict[tuple[Stamp, bool], str] = OrderedDict()
        self._glances: dict[Stamp, Glance] = {}
        self._bucketed: tuple[frozenset[Stamp], Buckets] = (frozenset(), ([], {}))
        self._lock = threading.Lock()  # one look at a core at a time: they take memory

    def found(self) -> dict[str, Path]:
        """The cores by their names, below the directory; links that lead out of it are none."""
        root = self._root.resolve()
        return {
            path.relative_to(self._root).as_posix(): path
            for path in self._files()
            if is_core(str(path)) and root in path.resolve().parents
        }

    def _files(self) -> Iterator[Path]:
        for folder, folders, files in os.walk(self._root):
            folders.sort()
            for name in sorted(files):
                working(f"Looking for cores in {folder}")
                yield Path(folder, name)

    def entries(self) -> tuple[list[Entry], int, list[Json]]:
        """The latest cores, how many are left out, and the buckets of those."""
        files = []
        for name, path in self.found().items():
            try:
                files.append((name, path, path.stat()))
            except OSError:  # gone meanwhile
                continue
        files.sort(key=lambda item: -item[2].st_mtime)
        enough = monotonic() + LOOKING
        found: dict[Stamp, Glance] = {}
        stamps: list[tuple[Stamp, float]] = []
        for name, path, state in files[:MOST_LISTED]:
            working(f"Looking at the cores in {self.directory}", len(stamps) / len(files))
            stamp = (name, state.st_size, state.st_mtime_ns)
            stamps.append((stamp, state.st_mtime))
            if stamp not in self._glances and monotonic() < enough:
                self._glances[stamp] = self._glance(path)
            if stamp in self._glances:
                found[stamp] = self._glances[stamp]
        buckets, of = self._buckets(found)
        entries = [_entry(*each, found.get(each[0]), of) for each in stamps]
        return entries, max(len(files) - MOST_LISTED, 0), buckets

    def _buckets(self, found: dict[Stamp, Glance]) -> Buckets:
        """Of the crashes that were looked at; found anew where these are others than last time."""
        known = frozenset(found)
        kept, buckets = self._bucketed
        if known != kept:
            times = {stamp[0]: (glance, _time(stamp, glance)) for stamp, glance in found.items()}
            buckets = buckets_of(times)
            self._bucketed = known, buckets
        return buckets

    def _glance(self, path: Path) -> Glance:
        try:
            with self._lock:
                return glance_of(done_apart(str(path), lambda: seen(str(path), self._arguments)))
        except Error as error:
            return Glance(trouble=str(error))

    def report(self, name: str, as_json: bool) -> str | None:
        """The page of a core, or its data; None where there is no such core. Raises Error."""
        path = self.found().get(name)
        if path is None:
            return None
        state = path.stat()
        key = ((name, state.st_size, state.st_mtime_ns), as_json)
        with self._lock:
            kept = self._reports.get(key)
            if kept is None:
                made = done_apart(str(path), lambda: self._made(path, as_json, name))
                kept = self._reports[key] = str(made)
                while len(self._reports) > MOST_KEPT:
                    self._reports.popitem(last=False)
            self._reports.move_to_end(key)
            return kept

    def _made(self, path: Path, as_json: bool, name: str) -> str:
        from whocall.cli.pages import opened, page_options
        from whocall.report.form import jsonform
        from whocall.report.page.document import document
        from whocall.report.page.writing import page_text

        with whole_files():
            how = page_options(self._arguments, self._arguments.gdb)
            data = document(opened([str(path)], self._arguments), how)
        for crash in data["crashes"]:
            crash["left_out"] += [sentence.rstrip(".") for sentence in left_out()]
        return jsonform.text(data) if as_json else page_text(data, "../" * (name.count("/") + 1))


def _time(stamp: Stamp, glance: Glance) -> float:
    """Of the crash, or else when its file was written; seconds since 1970."""
    return stamp[2] / 1e9 if glance.time is None else glance.time


def _entry(stamp: Stamp, modified: float, glance: Glance | None, of: dict[str, str]) -> Entry:
    name, size, _ = stamp
    if glance is None:
        return Entry(name, size, modified, looked_at=False)
    return Entry(
        name,
        size,
        modified,
        glance.program,
        glance.signal,
        glance.trouble,
        glance.sentence,
        glance.time,
        of.get(name, ""),
    )


class CoreServer(ThreadingHTTPServer):
    """Serves cores on the loopback interface."""

    daemon_threads = True

    def __init__(self, cores: Cores, port: int) -> None:
        self.cores = cores
        self.token = token_urlsafe(32)
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def address(self) -> str:
        """Of the index, for a browser."""
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"

    def without_token(self, path: str) -> str | None:
        """What follows the token in the path of a request; None where it has none, or another."""
        token, _, rest = path.removeprefix("/").partition("/")
        given = token.encode("utf-8", "surrogateescape")
        return rest if compare_digest(given, self.token.encode()) else None

    @property
    def hosts(self) -> set[str]:
        """What requests may call this server."""
        names = ("127.0.0.1", "localhost")
        return {f"{name}:{self.server_port}" for name in names} | (
            set(names) if self.server_port == 80 else set()
        )

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that went away is no error; others are told in a line."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError):
            complain(f"a request failed: {error!r}")


class _Handler(BaseHTTPRequestHandler):
    server: CoreServer
    server_version = "whocall"
    sys_version = ""
    timeout = 30  # seconds for a request to come in

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, with_body: bool) -> None:
        if self.headers.get("Host", "").lower() not in self.server.hosts:
            self._send(HTTPStatus.FORBIDDEN, "text/plain", "Another host.\n", with_body)
            return
        whole, _, query = self.path.partition("?")
        path = self.server.without_token(whole)
        if path is None:
            self._send(HTTPStatus.FORBIDDEN, "text/plain", _NO_TOKEN, with_body)
            return
        try:
            status, kind, text = self._found(unquote(path, errors="surrogateescape"), query)
        except Error as error:
            status, kind = HTTPStatus.UNPROCESSABLE_ENTITY, "text/plain"
            text = f"{printable(str(error))}\n"
        except Exception as error:  # a fault of ours is told as well
            status, kind = HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain"
            text = f"whocall failed: {type(error).__name__}: {printable(str(error))}\n"
        self._send(status, kind, text, with_body)

    def _found(self, path: str, query: str) -> tuple[HTTPStatus, str, str]:
        cores = self.server.cores
        if path == "":
            return HTTPStatus.OK, "text/html", index_text(cores.directory, *cores.entries())
        if path.startswith("report/"):
            as_json = query == "json"
            text = cores.report(path[len("report/") :], as_json)
            if text is not None:
                return HTTPStatus.OK, "application/json" if as_json else "text/html", text
        return HTTPStatus.NOT_FOUND, "text/plain", "There is no such core.\n"

    def _send(self, status: HTTPStatus, kind: str, text: str, with_body: bool) -> None:
        body = text.encode("utf-8", "replace")
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the terminal is for errors."""
