"""The same with other builds: each kind of replaced, damaged and planted address, and of stacks.

Not with a trampoline whose address looks like the true one without its low byte (gcc -Os here), nor
with a stack that the compiler may drop, as nothing but assembly uses it.
"""

from __future__ import annotations

import pytest

from acceptance.returns import test_arenas, test_damaged, test_planted, test_replaced
from acceptance.returns.builds import Case

OTHERS = (
    "gcc -O1",
    "gcc -O3",
    "gcc -Os",
    "clang -O1",
    "clang -Os",
    "gcc -O2 -static-pie",
    "gcc -O2 -fstack-protector-all -fcf-protection=full",
    "gcc -O2 -fno-plt -Wl,-z,now",
    "gcc -O2 -fno-reorder-functions -ffunction-sections",
    "gcc -m32 -O1",
    "gcc -m32 -Os -fno-pic -no-pie",
    "clang -m32 -O2",
    "clang -m32 -O0",
)
REPLACED = [build for build in OTHERS if build != "gcc -Os"]
FEW = ("gcc -O1", "clang -Os", "gcc -O2 -static-pie", "gcc -O2 -fno-plt -Wl,-z,now")


@pytest.mark.parametrize("build", REPLACED)
def test_replaced_ones(build: str) -> None:
    test_replaced.test_a_replaced_return_address(Case("replaced", build))


@pytest.mark.parametrize("defines", [("PAGE",), ("MADE",), ("TABLED",)], ids=str)
@pytest.mark.parametrize("build", FEW)
def test_trampolines(build: str, defines: tuple[str, ...]) -> None:
    test_replaced.test_a_replaced_return_address(Case("replaced", build, defines))


@pytest.mark.parametrize("build", OTHERS)
def test_damaged_ones(build: str) -> None:
    test_damaged.test_damaged_return_addresses(Case("damaged", build, (), "36"))


@pytest.mark.parametrize("build", OTHERS)
def test_planted_ones(build: str) -> None:
    test_planted.test_a_stack_ends_where_it_was_started_by_hand(Case("planted", build))


@pytest.mark.parametrize("defines", [("ZERO",), ("EXIT",), ("OWN",)], ids=str)
@pytest.mark.parametrize("build", FEW)
def test_ends(build: str, defines: tuple[str, ...]) -> None:
    test_planted.test_a_stack_ends_where_it_was_started_by_hand(Case("planted", build, defines))


@pytest.mark.parametrize("defines", [(), ("THUNK",), ("THUNKS",), ("POINTER",)], ids=str)
@pytest.mark.parametrize("build", FEW)
def test_true_callers(build: str, defines: tuple[str, ...]) -> None:
    test_planted.test_a_true_caller_of_what_never_returns(Case("noreturn", build, defines, ""))


@pytest.mark.parametrize("build", OTHERS)
def test_arenas_of_stacks(build: str) -> None:
    test_arenas.test_a_table_that_leads_down(Case("arenas", build, (), "10"))
