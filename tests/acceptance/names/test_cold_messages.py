"""Failed assertions in the cold parts of functions: whose names they tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from acceptance.names.said_names import PROGRAM, names_of

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
