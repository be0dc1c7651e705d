"""A core over which a parser breaks ends no server: its row and its page say what happened."""

from __future__ import annotations

import http.client
import signal
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import SplitResult, urlsplit

import pytest
from faults.commands import Place

SERVER = r"""
import ctypes, os, sys
from whocall.base.native_module import native
real = native.open_core
def stack(): ctypes.CDLL(None).regcomp(ctypes.create_string_buffer(4096), b"(" * 500000, 1)
def memory():
    kept = []
    while True: kept.append(bytearray(1 << 24))
FAULTS = {
    "stack": stack, "memory": memory,
    "segv": lambda: ctypes.string_at(0),
    "exec": lambda: os.execv("/bin/echo", ["echo", "SUCCEEDED"]),
}
def open_core(path, *given):
    FAULTS.get(os.fsdecode(path).rpartition(".")[2], lambda: None)()
    return real(path, *given)
native.open_core = open_core
from whocall.base import limits
limits.memory_for = lambda jobs: 200 << 20
from whocall.cli.main import main
sys.exit(main())
"""
SAID = {
    "stack": "was ended by SIGSEGV",
    "segv": "was ended by SIGSEGV",
    "memory": "there is not enough memory",
    "exec": "has ended before its time",
}


@pytest.fixture(params=[[], ["--gdb"]], ids=["alone", "with gdb"])
def address(place: Place, request: pytest.FixtureRequest) -> Iterator[SplitResult]:
    for name in ("good", *SAID):
        (place.folder / f"core.{name}").write_bytes(place.core.read_bytes())
    command = [sys.executable, "-c", SERVER, "serve", place.folder, "--port", "0"]
    command += request.param
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield urlsplit(server.stdout.readline().split()[0])
            assert server.poll() is None
        finally:
            server.send_signal(signal.SIGINT)
        assert server.wait(20) == 0
        assert "SUCCEEDED" not in server.stdout.read()


def asked(address: SplitResult, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection(address.netloc, timeout=60)
    connection.request("GET", address.path + path)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_the_server_goes_on(address: SplitResult) -> None:
    status, index = asked(address, "")
    assert status == 200
    for name, sentence in SAID.items():
        assert sentence in index, name
        status, text = asked(address, f"report/core.{name}")
        assert (name, status, sentence in text) == (name, 422, True)
    status, page = asked(address, "report/core.good?json")
    assert status == 200
    assert '"frames"' in page
    status, again = asked(address, "report/core.good")
    assert status == 200
    assert "<html" in again
