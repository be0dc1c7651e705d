"""Cores of some kilobytes, and what they tell beside the cores that they are made of."""

from __future__ import annotations

import json
import re
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
from whocall import open_core
from whocall.base.process_image import Walk

STOCK = [
    *("python3", "python3-threads", "python3-signal-alarm", "python3-signal-alternate"),
    *("perl", "git-log", "many-64-threads"),
]
SECRETS = ("STACKSECRET", "HEAPSECRET", "ARGSECRET", "VECTORSECRET", "REGISTERSECRET")
SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int __attribute__((noinline)) inner(const char *text, int *where) {
  register unsigned long kept asm("r12") = 0x5245545349474552;  // "REGISTER"
  asm volatile("movdqu (%0), %%xmm5" :: "r"("VECTORSECRETVECTORSECRET") : "xmm5");
  asm volatile("" : "+r"(kept));
  int value = *where + text[0];
  asm volatile("" :: "r"(kept));
  return value;
}
static int __attribute__((noinline)) outer(const char *text, int number) {
  char secret[64];
  strcpy(secret, text);
  return inner(secret, (int *)(long)number) + secret[3];
}
int main(int count, char **words) {
  char *heap = malloc(64), line[64];
  if (count == 1) execl(words[0], words[0], "ARGSECRETARGSECRET", (char *)0);
  strcpy(heap, "HEAPSECRETHEAPSECRET");
  asm volatile("" :: "r"(heap) : "memory");
  snprintf(line, sizeof line, "STACKSECRET%dSTACKSECRET", count);
  return outer(line, 8) + heap[1] + words[1][0];
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
    whole = gdb_bt.of_core(stock.core, stock.exe)
    part = gdb_bt.of_core(small, stock.exe)
    assert {lwp: thread.frames for lwp, thread in part.items()} == {
        lwp: thread.frames for lwp, thread in whole.items()
    }
    assert eu_stack.of_core(small, stock.exe).pcs() == eu_stack.of_core(stock.core, stock.exe).pcs()


@pytest.mark.parametrize("name", STOCK)
def test_a_private_one_has_the_frames(name: str, stock_cores: StockCores, tmp_path: Path) -> None:
    stock = stock_cores.core(name)
    small = tmp_path / "small"
    shrunk(stock.core, stock.exe, small, "--private")
    assert frames(small, stock.exe) == frames(stock.core, stock.exe)


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A program with secrets everywhere, and its core."""
    folder = tmp_path_factory.mktemp("secrets")
    exe = folder / "secrets"
    subprocess.run(
        ["gcc", "-O1", "-x", "c", "-", "-o", str(exe)], input=SOURCE, text=True, check=True
    )
    return exe, crash(exe, folder).core


def test_secrets_are_not_shown(secrets: tuple[Path, Path], tmp_path: Path) -> None:
    exe, core = secrets
    whole = core.read_bytes()
    assert all(secret[:8].encode() in whole for secret in SECRETS)
    small = tmp_path / "small"
    shrunk(core, exe, small, "--private")
    part = small.read_bytes()
    assert [secret for secret in SECRETS if secret[:8].encode() in part] == []


def test_blank_words_are_no_values(secrets: tuple[Path, Path], tmp_path: Path) -> None:
    """What is not known is not told to be 0."""
    exe, core = secrets
    small = tmp_path / "small"
    shrunk(core, exe, small, "--private")
    whole, part = (
        {
            (frame["level"], each["position"]): each["value"]
            for frame in said("bt --schema 2", path, exe)["threads"][0]["frames"]
            for each in frame["arguments"] or ()
        }
        for path in (core, small)
    )
    assert whole
    told = {place: value for place, value in part.items() if value is not None}
    assert told.items() <= whole.items()
    with open_core(str(small), str(exe)) as image:
        text = ran([sys.executable, WHOCALL, "bt", small, exe])
        assert "SECRET" not in text
        assert re.search(r'"[^"]*secrets \.\.\."', text)
        registers = image.report(walk=Walk(registers=True)).threads[0].frames[0].registers or {}
        assert "r12" not in registers
        assert "rsp" in registers


def test_packed_ones_are_taken(plain: Crash, tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    with packed.open("wb") as file:
        subprocess.run(["gzip", "-1", "-c", plain.core], stdout=file, check=True)
    shrunk(packed, plain.exe, tmp_path / "small")
    assert frames(tmp_path / "small", plain.exe) == frames(plain.core, plain.exe)


def test_minidumps_are_small(plain: Crash, tmp_path: Path) -> None:
    command = [sys.executable, WHOCALL, "shrink", plain.minidump, "-o", tmp_path / "small"]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert asked.returncode == 1
    assert "is small already" in asked.stderr
    assert not (tmp_path / "small").exists()
