"""Failed assertions in the cold parts of functions: whose names they tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from acceptance.names.said_names import PROGRAM, names_of, said
from whocall.base.native_module import native

# As glibc declares it from 2.38 on.
COLD = """
  #include <assert.h>
  extern void __assert_fail(const char *, const char *, unsigned, const char *)
    __attribute__((cold));
"""


def test_cold_parts_belong_to_their_functions(tmp_path: Path) -> None:
    """gcc puts calls of cold functions elsewhere; the frame of an abort lies there."""
    assert {"simple", "simple.cold", "several.cold"} <= names_of(tmp_path, COLD + PROGRAM)


@pytest.mark.parametrize("flags", ["-O2", "-O3", "-Os", "-m32 -no-pie", "-m32", "-fcf-protection"])
def test_cold_parts_that_no_table_delimits(flags: str, tmp_path: Path) -> None:
    """They stand one behind the other, and nothing but the jumps tells whose they are."""
    names = names_of(tmp_path, COLD + PROGRAM, "-fno-asynchronous-unwind-tables", *flags.split())
    assert {"simple", "several"} <= names
    assert not names & {"first_heir", "second_heir", "twice", "inner", "late", "jumper"}


def test_a_cold_part_behind_an_exported_function(tmp_path: Path) -> None:
    """Its symbol has a size: what stands behind that is not its code, and is found at once too."""
    exported = r"""
      __asm__(".section .text.unlikely,\"ax\",@progbits\n.globl exported\n"
              ".type exported,@function\nexported: lea 1(%rdi),%eax\nret\n"
              ".size exported,.-exported\n.text");
    """
    flags = ("-rdynamic", "-fno-asynchronous-unwind-tables")
    assert {"simple", "several"} <= names_of(tmp_path, exported + COLD + PROGRAM, *flags)
    bare = str(tmp_path / "bare")
    for start, name in said(Path(bare)).items():
        assert native.FileNames(bare).describe(start).raw_name == name
