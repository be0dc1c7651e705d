"""gdb driven through the Debug Adapter Protocol, as editors drive it; gdb speaks it from 14 on."""

from __future__ import annotations

import json
import select
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from sessions import GDB, SCRIPT, environment

PATIENCE = 60  # seconds for a message to come

Message = dict[str, Any]


class DapError(Exception):
    """A request that was refused; str() is gdb's message."""


class DapSession:
    """A running gdb with the extension loaded; `events` are those that nobody waited for yet."""

    def __init__(self, arguments: Sequence[str | Path] = (), *, script: Path = SCRIPT) -> None:
        command = [GDB, "-nx", "-q", "-iex", "set debuginfod enabled off"]
        command += ["-iex", "set startup-with-shell off", "-iex", f"source {script}", "-i=dap"]
        self._gdb = subprocess.Popen(
            [*command, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
            bufsize=0,
        )
        self._sent = 0
        self._unread = b""
        self._responses: dict[int, Message] = {}
        self.events: list[Message] = []
        self.capabilities: Message = self.ask(
            "initialize", adapterID="gdb", supportsInvalidatedEvent=True
        )
        self.wait_for("initialized")

    def __enter__(self) -> DapSession:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.ask("disconnect", terminateDebuggee=True)
        else:
            self._gdb.kill()
        assert self._gdb.stdin is not None
        self._gdb.stdin.close()
        self._gdb.wait(PATIENCE)

    def send(self, command: str, **arguments: Any) -> int:
        """Sends a request and gives its number."""
        self._sent += 1
        request = {"seq": self._sent, "type": "request", "command": command}
        body = json.dumps({**request, "arguments": arguments}).encode()
        assert self._gdb.stdin is not None
        self._gdb.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        return self._sent

    def answer(self, number: int) -> Message:
        """The body of the response to the request `number`; raises DapError when it failed."""
        self._read_until(lambda: number in self._responses)
        response = self._responses.pop(number)
        if not response["success"]:
            raise DapError(response.get("message", ""))
        body: Message = response.get("body") or {}
        return body

    def ask(self, command: str, **arguments: Any) -> Message:
        """Sends a request and gives the body of its response."""
        return self.answer(self.send(command, **arguments))

    def wait_for(self, name: str) -> Message:
        """The body of the next event of that name."""
        self._read_until(lambda: any(event["event"] == name for event in self.events))
        event = next(event for event in self.events if event["event"] == name)
        self.events.remove(event)
        body: Message = event.get("body") or {}
        return body

    def begin(self, command: str, **arguments: Any) -> Message:
        """`launch` or `attach`, which newer gdbs do after configurationDone; waits for a stop."""
        begun = self.send(command, **arguments)
        self.ask("configurationDone")
        self.answer(begun)
        return self.wait_for("stopped")

    def console(self, line: str) -> str:
        """What a command of gdb's command line prints."""
        return str(self.ask("evaluate", expression=line, context="repl")["result"])

    def frames(self, thread: int = 1, most: int = 0) -> list[Message]:
        """The stack of a thread, `most` frames or, with 0, all."""
        frames: list[Message] = self.ask("stackTrace", threadId=thread, levels=most)["stackFrames"]
        return frames

    def printed(self) -> str:
        """What gdb and the program have printed so far, as output events tell it."""
        outputs = [event for event in self.events if event["event"] == "output"]
        return "".join(event["body"]["output"] for event in outputs)

    def _read_until(self, done: Callable[[], bool]) -> None:
        while not done():
            message = self._next()
            if message["type"] == "response":
                self._responses[message["request_seq"]] = message
            elif message["type"] == "event":
                self.events.append(message)

    def _next(self) -> Message:
        head, rest = self._take_until(b"\r\n\r\n")
        lengths = [line for line in head.split(b"\r\n") if line.startswith(b"Content-Length:")]
        # Nothing else may stand on that channel: what is printed there breaks the protocol.
        assert lengths and head.count(b"\r\n") == 0, head
        size = int(lengths[0].split(b":")[1])
        while len(rest) < size:
            rest += self._more()
        self._unread = rest[size:]
        message: Message = json.loads(rest[:size])
        return message

    def _take_until(self, end: bytes) -> tuple[bytes, bytes]:
        while end not in self._unread:
            self._unread += self._more()
        head, _, rest = self._unread.partition(end)
        return head, rest

    def _more(self) -> bytes:
        assert self._gdb.stdout is not None
        deadline = time.monotonic() + PATIENCE
        ready, _, _ = select.select([self._gdb.stdout], [], [], PATIENCE)
        assert ready, f"gdb says nothing since {time.monotonic() - deadline + PATIENCE:.0f} s"
        data: bytes = self._gdb.stdout.read(1 << 16)
        assert data, "gdb has ended"
        return data
