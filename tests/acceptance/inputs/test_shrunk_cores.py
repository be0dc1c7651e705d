"""Cores of some kilobytes, and what they tell beside the cores that they are made of."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from corpus.crash import crash
from oracles import eu_stack, gdb_bt

from acceptance.helpers.front_ends import WHOCALL
from acceptance.helpers.stockcores import StockCores
from acceptance.inputs.crashes import Crash, ran
from acceptance.inputs.made_minidumps import Form, made
from whocall import open_core
from whocall.base.errors import Error
from whocall.base.file_search import Search
from whocall.base.process_image import ProcessImage, Walk
from whocall.inputs.shrinking import Needed, shrink

STOCK = [
    *("python3", "python3-threads", "python3-signal-alarm", "python3-signal-alternate"),
    *("perl", "git-log", "many-64-threads"),
]
SECRETS = (
    *("STACKSECRET", "HEAPSECRET", "ARGSECRET", "VECTORSECRET", "REGISTERSECRET", "SHAREDSECRET"),
    *("MAPPEDSECRET", "NAMESECRET"),
)
SOURCE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
static int __attribute__((noinline)) inner(const char *text, int *where) {
  register unsigned long kept asm("r12") = 0x5245545349474552;  // "REGISTER"
  asm volatile("movdqu (%0), %%xmm5" :: "r"("VECTORSECRETVECTORSECRET") : "xmm5");
  asm volatile("" : "+r"(kept));
  int value = *where + text[0];
  asm volatile("" :: "r"(kept));
  return value;
}
static int words;
static int __attribute__((noinline)) outer(const char *text, int number) {
  char secret[64];
  strcpy(secret, text);
  if (words == 3) {  // a page of its stack has other rights than those around it
    mprotect((void *)((unsigned long)secret & -4096UL), 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
  }
  if (words == 4) {
    union sigval value = {.sival_ptr = (void *)0x4345534555455551};  // "QUEUESEC"
    sigqueue(getpid(), SIGQUIT, value);
  }
  return inner(secret, (int *)(long)number) + secret[3];
}
// Beside the vDSO, where loaders of programs may have put an image.
static void fill_pages(const char *path) {
  char *page = mmap(0, 16384, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 16384; i += 16) memcpy(page + i, "SHAREDSECRET\n\n\n", 16);
  int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  for (int i = 0; i < 512; ++i) {
    if (write(file, "MAPPEDSECRET\n\n\n", 16) != 16) _exit(9);
  }
  page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  page[0] = 'M';
  page[4096] = 'M';
  unlink(path);
}
int main(int count, char **given) {
  char *heap = malloc(64), line[64];
  if (count == 1) execl(given[0], given[0], "ARGSECRETARGSECRET" MORE, (char *)0);
  words = count;
  fill_pages("pages");
  prctl(PR_SET_NAME, "NAMESECRET");
  strcpy(heap, "HEAPSECRETHEAPSECRET");
  asm volatile("" :: "r"(heap) : "memory");
  snprintf(line, sizeof line, "STACKSECRET%dSTACKSECRET", count);
  return outer(line, 8) + heap[1] + given[1][0];
}
"""


def shrunk(core: Path, exe: Path | None, place: Path, *options: str) -> str:
    """What the command says; the small core lies at `place`."""
    command = [sys.executable, WHOCALL, "shrink", core, *([exe] if exe else []), "-o", place]
    return ran([*command, *options])


def said(words: str, core: Path, exe: Path | None) -> Any:
    """The answer as JSON, without the names of the cores and of the modules' list."""
    command = [sys.executable, WHOCALL, *words.split(), core, *([exe] if exe else []), "--json"]
    answer = json.loads(ran(command))
    answer.pop("source", None)
    answer.pop("modules", None)
    return answer


def frames(core: Path, exe: Path | None) -> list[list[tuple[Any, ...]]]:
    """Of all threads: pc, name and trust."""
    with open_core(str(core), str(exe or "")) as image:
        report = image.report(walk=Walk(past_main=True))
        return [[*trace.rows("pc", "function", "trust")] for trace in report.threads]


@pytest.mark.parametrize("name", STOCK)
def test_all_answers_stay(name: str, stock_cores: StockCores, tmp_path: Path) -> None:
    stock = stock_cores.core(name)
    small = tmp_path / "small"
    told = shrunk(stock.core, stock.exe, small)
    assert "otherwise" not in told
    assert small.stat().st_size < 0.04 * stock.core.stat().st_size
    for words in ("bt --all --full --explain --schema 2", "why", "waits"):
        assert said(words, small, stock.exe) == said(words, stock.core, stock.exe), words
    again = tmp_path / "again"
    shrunk(small, stock.exe, again)
    assert frames(again, stock.exe) == frames(stock.core, stock.exe)


@pytest.mark.parametrize("name", STOCK)
def test_other_tools_open_it(name: str, stock_cores: StockCores, tmp_path: Path) -> None:
    stock = stock_cores.core(name)
    small = tmp_path / "small"
    shrunk(stock.core, stock.exe, small)
    # gdb 18 leaves out inlined functions of perl where it has their file's index kept.
    fresh = ("set index-cache enabled off",)
    whole, part = (gdb_bt.of_core(core, stock.exe, 0, fresh) for core in (stock.core, small))
    assert set(part) == set(whole)
    for lwp, thread in whole.items():
        assert part[lwp].frames == thread.frames
    assert eu_stack.of_core(small, stock.exe).pcs() == eu_stack.of_core(stock.core, stock.exe).pcs()


@pytest.mark.parametrize("name", STOCK)
def test_a_private_one_has_the_frames(name: str, stock_cores: StockCores, tmp_path: Path) -> None:
    stock = stock_cores.core(name)
    small = tmp_path / "small"
    shrunk(stock.core, stock.exe, small, "--private")
    assert frames(small, stock.exe) == frames(stock.core, stock.exe)


Subject = tuple[Path, Path]
"""A program, and its core."""


def crashed(folder: Path, more: str = "", *flags: str) -> Subject:
    """With secrets everywhere; `more` are arguments that it gives to itself."""
    exe = folder / "secrets"
    command = ["gcc", "-O1", f"-DMORE={more}", *flags, "-x", "c", "-", "-o", str(exe)]
    subprocess.run(command, input=SOURCE, text=True, check=True)
    return exe, crash(exe, folder).core


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    """One that reads an address that is none."""
    return crashed(tmp_path_factory.mktemp("secrets"))


def leaked(core: Path) -> list[str]:
    """The secrets that are in it."""
    held = core.read_bytes()
    return [secret for secret in (*SECRETS, "QUEUESEC") if secret[:8].encode() in held]


def replaced_address(core: bytes, address: bytes) -> bytes:
    """With another address in the note that tells of the signal what a dump told."""
    (note,) = re.finditer(b"GISWWHOCALL\\0", core)
    told = struct.unpack_from("<Q", core, note.end())[0]
    assert told & 2
    place = note.end() + 16
    return core[:place] + address + core[place + 8 :]


def known(core: Path, exe: Path) -> dict[tuple[Any, ...], Any]:
    """All values that it tells: of arguments, registers and words of the stack."""
    found: dict[tuple[Any, ...], Any] = {}
    for thread in said("bt --all --schema 2", core, exe)["threads"]:
        for frame in thread["frames"]:
            for each in frame["arguments"] or ():
                if each["value"] is not None:
                    found[thread["lwp"], frame["level"], each["position"]] = each["value"]
    with open_core(str(core), str(exe)) as image:
        for trace in image.report(walk=Walk(registers=True)).threads:
            for one in trace.frames:
                for name, value in (one.registers or {}).items():
                    found[trace.lwp, one.level, name] = value
    return found


def test_secrets_are_not_shown(secrets: Subject, tmp_path: Path) -> None:
    exe, core = secrets
    assert leaked(core) == [*SECRETS]
    small = tmp_path / "small"
    shrunk(core, exe, small, "--private")
    assert leaked(small) == []
    assert frames(small, exe) == frames(core, exe)
    told = r'"[^"]*secrets \.\.\."'  # of what the kernel keeps of the command line, 79 characters
    assert len(str(exe)) > 60 or re.search(told, ran([sys.executable, WHOCALL, "bt", small, exe]))


def test_what_a_signal_brought_is_not_shown(tmp_path: Path) -> None:
    exe, core = crashed(tmp_path, ', "a", "b"')
    assert "QUEUESEC" in leaked(core)
    small = tmp_path / "small"
    shrunk(core, exe, small, "--private")
    assert leaked(small) == []
    assert known(small, exe).items() <= known(core, exe).items()


def test_what_another_dump_told_is_not_shown(secrets: Subject, tmp_path: Path) -> None:
    """Cores that are made of minidumps have notes of their own."""
    exe, core = secrets
    form = Form(name="NAMESECRET")
    dump = made(core, tmp_path / "dump", form, str(exe))
    unpacked, small = tmp_path / "unpacked", tmp_path / "small"
    ran([sys.executable, WHOCALL, "unpack", dump, "--exe", exe, "-o", unpacked])
    unpacked.write_bytes(replaced_address(unpacked.read_bytes(), b"ADDRESEC"))
    assert leaked(unpacked) != [] and b"ADDRESEC" in unpacked.read_bytes()
    shrunk(unpacked, exe, small, "--private")
    assert b"ADDRESEC" not in small.read_bytes()
    assert leaked(small) == ["REGISTERSECRET"]  # in an instruction, which dumps of code hold
    assert frames(small, exe) == frames(unpacked, exe)


@pytest.mark.parametrize("more", ["", ', "a"'], ids=["plain", "rights of a page"])
@pytest.mark.parametrize("times", [1, 2])
def test_blank_words_are_no_values(more: str, times: int, tmp_path: Path) -> None:
    """What is not known is not told to be 0."""
    exe, core = crashed(tmp_path, more)
    small = core
    for at in range(times):
        shrunk(small, exe, tmp_path / f"small{at}", "--private")
        small = tmp_path / f"small{at}"
    told = known(small, exe)
    assert told
    assert told.items() <= known(core, exe).items()
    assert not any("r12" in place for place in told)
    text = ran([sys.executable, WHOCALL, "bt", small, exe])
    assert "SECRET" not in text


def test_numbers_that_look_like_code_are_not_shown(tmp_path: Path) -> None:
    """At a fixed address code begins at 4,198,400: a date, an account."""
    source = """
    __attribute__((noinline)) int spend(long account, long date, int *where) {
      return *where + account + date;
    }
    int main(void) { return spend(4198900, 4199001, 0); }
    """
    exe = tmp_path / "spend"
    command = ["gcc", "-O1", "-no-pie", "-x", "c", "-", "-o", str(exe)]
    subprocess.run(command, input=source, text=True, check=True)
    core = crash(exe, tmp_path).core
    shrunk(core, exe, tmp_path / "small", "--private")
    with open_core(str(tmp_path / "small"), str(exe)) as image:
        frame = image.report(walk=Walk(registers=True)).threads[0].frames[0]
        values = (frame.registers or {}).values()
    assert not {4198900, 4199001} & {*values}


def test_who_waits_is_not_told_otherwise(stock_cores: StockCores, tmp_path: Path) -> None:
    """The results of system calls are of registers."""
    stock = stock_cores.core("many-64-threads")
    small = tmp_path / "small"
    shrunk(stock.core, stock.exe, small, "--private")
    part, whole = (said("waits", core, stock.exe)["threads"] for core in (small, stock.core))
    for ours, theirs in zip(part, whole):
        assert ours["system_call"]["state"] in (theirs["system_call"]["state"], "unclear")


def test_packed_ones_are_taken(plain: Crash, tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    with packed.open("wb") as file:
        subprocess.run(["gzip", "-1", "-c", plain.core], stdout=file, check=True)
    shrunk(packed, plain.exe, tmp_path / "small")
    assert frames(tmp_path / "small", plain.exe) == frames(plain.core, plain.exe)


@pytest.mark.parametrize("size", [4096, 50_000, 100])
@pytest.mark.parametrize("private", [False, True])
def test_a_core_that_becomes_shorter(
    size: int, private: bool, plain: Crash, tmp_path: Path
) -> None:
    core, small = tmp_path / "core", tmp_path / "small"
    shutil.copy(plain.core, core)

    def ask(image: ProcessImage) -> list[Needed]:
        rows = image.report().threads[0].rows("pc", "sp")
        os.truncate(core, size)
        return [(pc, sp, sp + 256, False) for pc, sp in rows]

    with small.open("wb") as out, pytest.raises(Error, match=f"^{core}.* became shorter"):
        shrink(str(core), str(plain.exe), Search(), ask, out, private)
    assert small.stat().st_size == 0


def test_minidumps_are_small(plain: Crash, tmp_path: Path) -> None:
    command = [sys.executable, WHOCALL, "shrink", plain.minidump, "-o", tmp_path / "small"]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert asked.returncode == 1
    assert "is small already" in asked.stderr
    assert not (tmp_path / "small").exists()
