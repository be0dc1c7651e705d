"""Symbols make the analysis no worse: static programs are audited with .symtab and without."""

from __future__ import annotations

from pathlib import Path

import pytest

from acceptance.helpers import name_twins
from whocall.base.native_module import native

SOURCE = r"""
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
static int __attribute__((noinline)) fails(int x) {
  if (x > 3) throw std::runtime_error("no");
  return std::atoi("3") + x;
}
int main(int count, char **words) {
  try {
    std::printf("%s %d\n", words[0], fails(count));
  } catch (const std::exception &error) {
    std::puts(error.what());
  }
}
"""


@pytest.mark.parametrize("flags", ["-O2 -static", "-O2 -static -m32", "-O2"])
def test_symbols_make_nothing_worse(flags: str, tmp_path: Path) -> None:
    twin = name_twins.build(tmp_path, *flags.split(), source=SOURCE, compiler="g++")
    named = native.audit(str(twin), difference_limit=0)
    bare = native.audit(str(name_twins.stripped(twin)), difference_limit=0)
    assert named.functions == bare.functions > 0
    for ours, without in ((named.calls, bare.calls), (named.instructions, bare.instructions)):
        assert ours.places == without.places
        assert ours.cfa >= without.cfa, (ours.classes, without.classes)
        assert ours.return_address >= without.return_address
        assert ours.registers >= without.registers
