"""Cores that are cut short at a random moment while they are read: what was said of them then.

    python3 -m acceptance.helpers.cut_short --count 1000     # in `tests`: the campaign

What is said is the answer on the whole core, or it names the core, so that nobody takes it for one.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from acceptance.helpers.broken_files import SCRIPT, crash

SOURCE = """
__attribute__((noipa)) int deep(int n) { return n ? deep(n - 1) + 1 : *(volatile int *)0; }
int main(int c, char **v) { return deep(20000 * c) + (v == 0); }
"""
"""Whose stack takes a while to read."""

END = "-- that was all --"
PATIENCE = 60.0  # seconds
SENTENCE = "became shorter while it was read"


@dataclass
class Told:
    """What came of the rounds."""

    whole: int = 0
    in_words: int = 0  # that named the core
    shorter: int = 0  # of these so many found it while it was read
    wrong: list[str] = field(default_factory=list)

    def add(self, said: str, truth: str, core: Path) -> None:
        """Of one round."""
        if _answer(said) == _answer(truth):
            self.whole += 1
        elif str(core) in said:
            self.in_words += 1
            self.shorter += SENTENCE in said
        else:
            self.wrong.append(said)


def _answer(said: str) -> str:
    """Without the remark on gdb's own frames: gdb reads them itself, when the answer is there."""
    return "".join(it for it in said.splitlines(True) if not it.startswith("gdb's own"))


class Session:
    """A program that reads commands line by line, and says END when it is asked to."""

    def __init__(self, command: list[str], say_end: str) -> None:
        kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "DEBUGINFOD_URLS")}
        self._say_end = say_end
        self._process = subprocess.Popen(
            command,
            env={**kept, "TERM": "dumb"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def begin(self, line: str) -> None:
        """Sends a command."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n{self._say_end}\n".encode())
        self._process.stdin.flush()

    def finish(self) -> str:
        """What the command said; AssertionError when the program died or hangs."""
        assert self._process.stdout is not None
        said = b""
        until = time.monotonic() + PATIENCE
        while not said.endswith(f"{END}\n".encode()):
            ready, _, _ = select.select([self._process.stdout], [], [], until - time.monotonic())
            piece = os.read(self._process.stdout.fileno(), 1 << 16) if ready else b""
            assert piece, f"it died or hangs; it said: {said[-2000:]!r}"
            said += piece
        return said.decode(errors="surrogateescape")[: -len(END) - 1]

    def ask(self, line: str) -> str:
        """Sends a command and returns what it said."""
        self.begin(line)
        return self.finish()

    def close(self) -> None:
        """Ends the program."""
        self._process.kill()
        self._process.communicate()


@contextlib.contextmanager
def gdb_session() -> Iterator[Session]:
    """gdb with the extension."""
    command = ["gdb", "-nx", "-q", "-iex", "set debuginfod enabled off", "-iex", "set prompt"]
    command += ["-iex", "set confirm off", "-iex", "set width 0", "-iex", "set height 0"]
    session = Session([*command, "-ex", f"source {SCRIPT}"], f"echo {END}\\n")
    session.ask("echo")
    try:
        yield session
    finally:
        session.close()


def _cut(core: Path, chance: random.Random, within: float) -> threading.Thread:
    """Cuts the core after up to `within` seconds, oftener early, when most is read, at a random
    size.
    """
    delay, size = within * chance.random() ** 4, chance.randrange(core.stat().st_size)

    def work() -> None:
        time.sleep(delay)
        os.truncate(core, size)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def in_gdb(core: Path, folder: Path, rounds: int, seed: int = 1) -> Told:
    """One gdb, in which each round loads a fresh copy, which is cut while `whocall bt` reads it."""
    chance, told = random.Random(seed), Told()
    copy = folder / "copy.core"
    with gdb_session() as gdb:
        for number in range(-3, rounds):
            copy.unlink(missing_ok=True)
            shutil.copy(core, copy)
            gdb.ask(f"core-file {copy}")
            begun = time.monotonic()
            if number < 0:  # how long it takes, and what is true
                truth = gdb.ask("whocall bt")
                within = 1.1 * (time.monotonic() - begun)
                continue
            gdb.begin("whocall bt")
            cutter = _cut(copy, chance, within)
            said = gdb.finish()
            cutter.join()
            told.add(said, truth, copy)
            assert "Num" in gdb.ask("info inferiors")
    return told


Way = Callable[[Path, Path, int], Told]
"""The core, a folder to copy it to, and how many rounds."""

_LOOP = f"""
import io, sys
sys.path.insert(0, {str(SCRIPT.parent)!r})
from whocall.cli.main import main
for line in sys.stdin:
    words = line.split()
    if words[:1] == ["echo"]:
        print({END!r}, flush=True)
    else:
        sys.stderr = sys.stdout
        main(words)
        sys.stdout.flush()
"""


def on_the_command_line(core: Path, folder: Path, rounds: int, seed: int = 1) -> Told:
    """The command line again and again, in one process."""
    chance, told = random.Random(seed), Told()
    copy = folder / "copy.core"
    session = Session([sys.executable, "-c", _LOOP], "echo")
    try:
        for number in range(-3, rounds):
            copy.unlink(missing_ok=True)
            shutil.copy(core, copy)
            begun = time.monotonic()
            if number < 0:
                truth = session.ask(f"bt {copy}")
                within = 1.1 * (time.monotonic() - begun)
                continue
            session.begin(f"bt {copy}")
            cutter = _cut(copy, chance, within)
            said = session.finish()
            cutter.join()
            told.add(said, truth, copy)
    finally:
        session.close()
    return told


def _page(address: str) -> str:
    """What `serve` tells of the core: its stacks, and what stands beside them; else its refusal."""
    try:
        with urllib.request.urlopen(f"{address}report/copy.core?json", timeout=PATIENCE) as said:
            page = json.load(said)["crashes"][0]
    except urllib.error.HTTPError as refusal:
        assert refusal.code == 422, refusal
        return refusal.read().decode()
    return json.dumps(page["stacks"]) + "".join(
        f"\n{sentence}" for sentence in (*page["warnings"], *page["left_out"])
    )


def by_serve(core: Path, folder: Path, rounds: int, seed: int = 1) -> Told:
    """One server, asked for the data of each copy's page."""
    chance, told = random.Random(seed), Told()
    copy = folder / "copy.core"
    command = [sys.executable, str(SCRIPT), "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[0]
        for number in range(-3, rounds):
            copy.unlink(missing_ok=True)
            shutil.copy(core, copy)
            begun = time.monotonic()
            if number < 0:
                truth = _page(address)
                within = 1.1 * (time.monotonic() - begun)
                continue
            cutter = _cut(copy, chance, within)
            said = _page(address)
            cutter.join()
            told.add(said, truth, copy)
        server.kill()
    return told


WAYS: dict[str, Way] = {
    "gdb": in_gdb,
    "command line": on_the_command_line,
    "serve": by_serve,
}


def main() -> int:
    """Prints what came of each way's share."""
    parser = argparse.ArgumentParser(prog="python3 -m acceptance.helpers.cut_short")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        core = crash(Path(folder) / "made", source=SOURCE).core
        for name, way in WAYS.items():
            place = Path(folder) / name.replace(" ", "-")
            place.mkdir()
            told = way(core, place, -(-arguments.count // len(WAYS)), arguments.seed)
            found = f"{told.shorter} found while it was read, {len(told.wrong)} wrong"
            print(f"{name}: {told.whole} whole, {told.in_words} in words, {found}", flush=True)
            wrong += len(told.wrong)
            print("\n".join(told.wrong[:3]), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
