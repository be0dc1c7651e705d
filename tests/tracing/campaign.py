"""Traces damaged in many ways: whatever the bytes say, readers end with text or with a sentence."""

from __future__ import annotations

import mmap
import os
import random
import resource
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tracing.lab import build, run

REGION = b"WREGION1"
ROOT = b"WTROOT_1"
FILE = b"WTFILE_1"
HEADER_BYTES = 4416  # sizeof(struct wct_region)
FIELD_BYTES = 320  # of them what is more than a table for the hooks
LONGEST = 2048  # bytes that are damaged at once
MOST_SECONDS = 20.0
MOST_MEMORY = 2 << 30  # bytes of address space beyond what the reader begins with

SPECIAL = (0, 1, 2, 3, 63, 64, 255, 4096, 1 << 16, (1 << 31) - 1, 1 << 31, 1 << 32, (1 << 47) - 1,
           1 << 48, (1 << 63) - 1, 1 << 63, (1 << 64) - 2, (1 << 64) - 1)  # fmt: skip


Bytes = Any  # a bytearray, or the like of a file


@dataclass(frozen=True)
class Original:
    """A core or a trace's file, and where in it whocall reads: half-open ranges of bytes."""

    name: str
    data: bytes
    headers: list[int]  # where regions begin
    parts: list[tuple[int, int]]  # heads, entries and events


def original(name: str, path: Path) -> Original:
    """Finds the regions by their magic."""
    data = path.read_bytes()
    headers, parts = [], []
    at = data.find(REGION)
    while at >= 0:
        fields = struct.unpack_from("<6Q", data, at + 80)
        stack, _, ring, capacity = fields[0], fields[1], fields[2], fields[3]
        if stack == HEADER_BYTES:  # the library's own constant is no region
            headers.append(at)
            depth, count = struct.unpack_from("<2Q", data, at + 264)
            parts.append((at, at + FIELD_BYTES))
            parts.append((at + stack, at + stack + (depth + 2) * 40))
            parts.append((at + ring, at + ring + min(count, capacity) * 24))
        at = data.find(REGION, at + 8)
    for magic, size in ((ROOT, 280), (FILE, 96)):
        at = data.find(magic)
        if at >= 0 and at % 4096 == 0:
            parts.append((at, at + size))
    return Original(name, data, headers, parts)


def originals(folder: Path) -> list[Original]:
    """A core and a file of eight threads, each with events and a live stack."""
    exe = build(folder, "counted.c", "-O1")
    small = {"WHOCALL_TRACE_EVENTS": "128", "WHOCALL_TRACE_STACK": "64"}
    core = run(exe, "300", **small).core
    assert core is not None
    found = [original("core", core)]
    trace = folder / "trace"
    run(exe, "300", WHOCALL_TRACE_FILE=str(trace), **small)
    found.append(original("file", trace))
    assert all(len(each.headers) == 8 for each in found)
    return found


def _place(chance: random.Random, of: Original) -> int:
    begin, end = chance.choice(of.parts)
    return chance.randrange(begin, max(begin + 1, min(end, len(of.data)) - 8))


def flip(chance: random.Random, of: Original, data: Bytes) -> None:
    """A few bits."""
    for _ in range(chance.randint(1, 8)):
        data[_place(chance, of)] ^= 1 << chance.randrange(8)


def special(chance: random.Random, of: Original, data: Bytes) -> None:
    """Words that lie at edges."""
    for _ in range(chance.randint(1, 3)):
        struct.pack_into("<Q", data, _place(chance, of) & ~7, chance.choice(SPECIAL))


def field(chance: random.Random, of: Original, data: Bytes) -> None:
    """A field of a region's header, near what it was or far from it."""
    at = chance.choice(of.headers) + 8 * chance.randrange(1, FIELD_BYTES // 8)
    was = struct.unpack_from("<Q", data, at)[0]
    near = (was + chance.randint(-3, 3)) % (1 << 64)
    value = chance.choice((near, was * 2 % (1 << 64), was // 2, chance.choice(SPECIAL)))
    struct.pack_into("<Q", data, at, value)


def shuffle(chance: random.Random, of: Original, data: Bytes) -> None:
    """A stretch of one part written over another."""
    size = chance.randint(8, 512)
    source, target = _place(chance, of), _place(chance, of)
    size = min(size, len(data) - max(source, target))
    data[target : target + size] = data[source : source + size]


def noise(chance: random.Random, of: Original, data: Bytes) -> None:
    """Random bytes over a stretch."""
    at = _place(chance, of)
    size = min(chance.randint(8, LONGEST), len(data) - at)
    data[at : at + size] = chance.randbytes(size)


def cut(chance: random.Random, of: Original, data: Bytes) -> None:
    """The file ends somewhere."""
    del data[chance.choice((_place(chance, of), chance.randrange(len(data)))) :]


KINDS: tuple[Callable[[random.Random, Original, Any], None], ...] = (
    flip, special, field, shuffle, noise, cut,
)  # fmt: skip


class Copy:
    """A file that is damaged again and again, and mended where that may have been."""

    def __init__(self, of: Original, path: Path) -> None:
        self.of = of
        self.path = path
        self._is_cut = True

    def damage(self, seed: int, number: int) -> str:
        """The kind of damage."""
        self._mend()
        chance = random.Random(f"{seed} {self.of.name} {number}")
        kind = chance.choice(KINDS)
        if kind is cut:
            data = bytearray(self.of.data)
            cut(chance, self.of, data)
            os.truncate(self.path, len(data))
            self._is_cut = True
        else:
            with self.path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as data:
                kind(chance, self.of, data)
        return kind.__name__

    def _mend(self) -> None:
        if self._is_cut:
            self.path.write_bytes(self.of.data)
            self._is_cut = False
            return
        with self.path.open("r+b") as file:
            for begin, end in self.of.parts:
                file.seek(begin)
                file.write(self.of.data[begin : end + LONGEST])


def read_all(path: str, is_core: bool) -> tuple[int, int]:
    """All that whocall tells of it, to the end: how many warnings, and characters of text."""
    from whocall.base.process_image import Walk, open_core
    from whocall.commands import alternatives
    from whocall.report.form.style import Style
    from whocall.tracing.choice import Choice
    from whocall.tracing.forms import telling_of
    from whocall.tracing.output import pieces
    from whocall.tracing.shadow import compare_with_trace, shadow_lines
    from whocall.tracing.source import open_trace_file, trace_of

    opened = trace_of(open_core(path)) if is_core else open_trace_file(path)
    telling = telling_of(opened, Choice())
    size = 0
    for form in ("tree", *alternatives("trace", "form")):
        if form != "svg" or any(row[3] for row in telling.profile().functions):
            size += sum(map(len, pieces(telling, form, Style())))
    if is_core and any(thread.lives for thread in opened.threads):
        for found in compare_with_trace(
            opened, opened.image.report(None, Walk(past_main=True)).threads
        ):
            size += sum(map(len, shadow_lines(found, 8, Style())))
    return len(opened.warnings), size


def judge(path: str, is_core: bool) -> tuple[str, str]:
    """`told`, `warned`, `refused`, or `FAULT` with what is wrong."""
    from whocall.base.errors import Error

    started = time.process_time()
    try:
        warnings, _ = read_all(path, is_core)
        outcome = "warned" if warnings else "told", ""
    except Error as error:
        sentence = str(error)
        outcome = "refused", sentence
        if not sentence.strip() or "\n" in sentence or len(sentence) > 600:
            outcome = "FAULT", f"no sentence: {sentence!r}"
    except Exception as error:
        outcome = "FAULT", f"{type(error).__name__}: {error}"
    spent = time.process_time() - started
    return outcome if spent < MOST_SECONDS else ("FAULT", f"took {spent:.1f} s")


def campaign(found: list[Original], count: int, seed: int) -> Counter[str]:
    """Judges `count` damaged traces, in this process."""
    limit = _address_space() + MOST_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        copies = [Copy(of, Path(folder) / of.name) for of in found]
        for number in range(count):
            copy = copies[number % len(copies)]
            kind = copy.damage(seed, number)
            outcome, words = judge(str(copy.path), copy.of.name == "core")
            outcomes[f"{copy.of.name} {kind} {outcome}"] += 1
            outcomes[outcome] += 1
            if outcome == "FAULT":
                print(f"{copy.of.name} {number} {kind}: {words}", file=sys.stderr)
    return outcomes


def _address_space() -> int:
    """Of this process, bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()
