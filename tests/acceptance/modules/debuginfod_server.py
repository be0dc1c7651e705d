"""A real debuginfod server on a loopback port, and worse ones."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

DEADLINE = 60
"""Seconds that a server may take to start and to look at its files."""


@dataclass(frozen=True)
class Server:
    """Where it is asked, and its own log."""

    url: str
    log: Path

    def metrics(self) -> str:
        """What it tells of itself, in the text form of Prometheus."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=DEADLINE) as answer:
            text: str = answer.read().decode()
            return text

    def requests(self) -> list[tuple[str, str]]:
        """Build id and kind of all that was asked for, whether it had it or not."""
        found = re.findall(r"GET /buildid/(\w+)/(\w+)", self.log.read_text())
        counts = re.findall(r'^http_requests_total\{type="(\w+)"\} (\d+)$', self.metrics(), re.M)
        assert len(found) == sum(int(count) for kind, count in counts if kind != "metrics")
        return found


def free_port() -> int:
    """One that nobody listens at; somebody else may take it in between."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def _has_scanned(server: Server) -> bool:
    with suppress(OSError):
        text = server.metrics()
        scanned = re.search(r'^thread_work_total\{role="traverse"\} (\d+)$', text, re.M)
        pending = re.search(r'^thread_work_pending\{role="scan"\} (\d+)$', text, re.M)
        busy = re.search(r'^thread_busy\{role="scan"\} (\d+)$', text, re.M)
        return (
            scanned is not None
            and int(scanned[1]) > 0
            and not (pending is not None and int(pending[1]))
            and not (busy is not None and int(busy[1]))
        )
    return False


@contextmanager
def serving(directory: Path) -> Iterator[Server]:
    """Serves the ELF files below a directory by their build ids."""
    kept = {name: value for name, value in os.environ.items() if name != "DEBUGINFOD_URLS"}
    port = free_port()
    command = ["debuginfod", "-d", ":memory:", "-p", str(port), "-F", "-t0", "-g0", str(directory)]
    server = Server(f"http://127.0.0.1:{port}", directory.with_suffix(".log"))
    with (
        server.log.open("w") as log,
        subprocess.Popen(command, env=kept, stdout=log, stderr=log) as process,
    ):
        try:
            deadline = time.monotonic() + DEADLINE
            while not _has_scanned(server):
                assert process.poll() is None, "debuginfod has ended"
                assert time.monotonic() < deadline, "debuginfod does not come to an end"
                time.sleep(0.05)
            yield server
        finally:
            process.terminate()


@contextmanager
def hanging() -> Iterator[tuple[str, threading.Event]]:
    """The URL of a server that accepts and never answers, and whether somebody has come."""
    came = threading.Event()
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)
        guests: list[socket.socket] = []

        def accept() -> None:
            while not over.is_set():
                with suppress(OSError):
                    guests.append(listener.accept()[0])
                    came.set()

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", came
        finally:
            over.set()
            thread.join()
            for guest in guests:
                guest.close()


@contextmanager
def answering(body: bytes, pause: float = 0) -> Iterator[str]:
    """The URL of a server that has the same answer to everything, and takes its time."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            middle = len(body) // 2
            for part in (body[:middle], body[middle:]):
                self.wfile.write(part)
                self.wfile.flush()
                time.sleep(pause)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def asking(url: str, cache: Path, **more: str) -> dict[str, str]:
    """The variables by which a client finds a server; the cache keeps what it got and what not."""
    return {
        "DEBUGINFOD_URLS": url,
        "DEBUGINFOD_CACHE_PATH": str(cache),
        "DEBUGINFOD_TIMEOUT": "2",
        **more,
    }
