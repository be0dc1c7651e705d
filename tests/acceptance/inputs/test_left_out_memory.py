"""Cores without stacks, as the coredump_filter of their program asks for: the cause is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus.build import run
from corpus.crash import crash

import whocall

SOURCE = r"""
#include <pthread.h>
#include <unistd.h>
static int kept = 1;
static void *wait(void *x) { for (;;) pause(); return x; }
int main(int argc, char **argv) {
  pthread_t id;
  for (int i = 1; i < THREADS; ++i) pthread_create(&id, 0, wait, 0);
  *(volatile int *)8 = kept;
  return 0;
}
"""
WITHOUT_PRIVATE, WITH = 0x30, 0x33
HEADERS_ALONE = 0


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dumped", [HEADERS_ALONE, WITHOUT_PRIVATE, WITH])
def test_a_core_without_stacks(dumped: int, threads: int, tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(SOURCE, encoding="utf-8")
    exe = tmp_path / "program"
    run(["gcc", "-pthread", f"-DTHREADS={threads}", "program.c", "-o", str(exe)], tmp_path)
    core = crash(exe, tmp_path, dumped=dumped).core
    with whocall.open_core(str(core), str(exe)) as image:
        told = [text for text in image.warnings if "coredump_filter" in text]
    if dumped == WITH:
        assert told == []
        return
    whose = "its thread" if threads == 1 else f"{threads} of its {threads} threads"
    (text,) = told
    assert f"written without the stack of {whose}" in text
    assert "its coredump_filter lacks bit 0" in text
