"""Parts of functions that the compiler put elsewhere: whose they are, in stripped files."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus.crash import crash
from oracles import nm_table
from oracles.tools import run

import whocall as api
from acceptance.helpers import name_twins
from whocall.base.native_module import native
from whocall.base.process_image import Walk

FLAGS = ("-O2", "-O3", "-O2 -fno-omit-frame-pointer", "-O2 -fcf-protection", "-O2 -fno-plt",
         "-O2 -m32", "-O2 -fno-pie -no-pie")  # fmt: skip
C_SOURCE = """
#include <stdlib.h>
__attribute__((cold, noinline)) void give_up(const char *why, int n) {
  if (n != 0 && getenv("PATH")) abort();
}
#define SUM(n, w) int r = 0; for (int i = 0; i < n; i++) r += atoi(w) + i * 30
__attribute__((noinline)) int total(int n, const char *w) {
  SUM(n, w);
  if (__builtin_expect(r > 50, 0)) { give_up(w, r); r = atoi(w + 1); give_up(w, 0); }
  return r + atoi(w);
}
__attribute__((noinline)) static int hidden(int n, const char *w) {
  SUM(n, w);
  if (__builtin_expect(r < -50, 0)) { give_up(w + 1, r); r = atoi(w + 2); give_up(w, 1); }
  return r - atoi(w);
}
int main(int count, char **words) { return hidden(count, words[0]) + total(7 * count, words[0]); }
"""
CXX_SOURCE = """
#include <cstdlib>
#include <stdexcept>
#include <string>
struct Guard {
  const char *name;
  ~Guard() { if (name && getenv("PATH")) abort(); }
};
__attribute__((cold)) extern "C" void refuse(const char *why) {
  if (why) throw std::runtime_error(why);
}
namespace shop {
__attribute__((noinline)) int price(int n, const char *word) {
  Guard guard{word};
  std::string text(word);
  refuse(word);
  return n + text.size();
}
}
int main(int count, char **words) {  // what nobody catches unwinds nothing
  try { return shop::price(count, words[0]); } catch (...) { return 3; }
}
"""


# A function of another convention, by hand: it begins with a frame, and two functions go on there.
SHARED = r"""
__asm__(".text\n.globl one, two\n.type one,@function\none: .cfi_startproc\n"
        "push %rbx\n.cfi_adjust_cfa_offset 8\n test %edi,%edi\n jne common\n pop %rbx\n"
        ".cfi_adjust_cfa_offset -8\n ret\n.cfi_endproc\n.size one,.-one\n"
        ".type two,@function\ntwo: .cfi_startproc\n push %rbx\n .cfi_adjust_cfa_offset 8\n"
        "SECOND\n pop %rbx\n.cfi_adjust_cfa_offset -8\n ret\n.cfi_endproc\n"
        ".size two,.-two\n.skip 300,0x90\n"
        "common: .cfi_startproc\n .cfi_def_cfa_offset 16\n xor %eax,%eax\n pop %rbx\n"
        ".cfi_def_cfa_offset 8\n ret\n.cfi_endproc\n");
int one(int), two(int);
int main(int count, char **words) { return one(count) + two(count) + (words == 0); }
"""


def parts_of(bare: Path) -> dict[int, str]:
    table = native.functions(str(bare))
    found = (table[at] for at in range(len(table)))
    return {each[0]: each[2] for each in found if each[3] == "part"}


def true_parts(twin: Path) -> dict[str, int]:
    return {each.name: each.address for each in nm_table.symbols(twin) if ".cold" in each.name}


@pytest.mark.parametrize("flags", FLAGS)
def test_parts_of_functions_with_names(flags: str, tmp_path: Path) -> None:
    twin = name_twins.build(tmp_path, "-rdynamic", *flags.split(), source=C_SOURCE)
    true = true_parts(twin)
    assert {"total.cold", "hidden.cold"} <= set(true)
    found = parts_of(name_twins.stripped(twin))
    assert found == {true["total.cold"]: "total.cold"}, "nobody knows what `hidden` was called"


def test_where_exceptions_land(tmp_path: Path) -> None:
    """No jump leads there: the exception table of the function does."""
    source = tmp_path / "program.cpp"
    source.write_text(CXX_SOURCE)
    twin, bare = tmp_path / "twin", tmp_path / "bare"
    run(["g++", "-O2", "-rdynamic", "-o", str(twin), str(source)])
    run(["strip", "-o", str(bare), str(twin)])
    made = crash(bare, tmp_path)
    with api.open_core(str(made.core)) as image:
        (thread,) = image.report(walk=Walk()).threads
    own = [frame for frame in thread.frames if frame.module and frame.module.endswith("bare")]
    name = "shop::price(int, char const*) [clone .cold]"
    assert [frame.function for frame in own] == [name, "main"]
    assert own[0].inferred and str(own[0].name_source) == "part"
    assert parts_of(bare)[true_parts(twin)["_ZN4shop5priceEiPKc.cold"]] == name


LANDING_CXX = """
#include <stdexcept>
__attribute__((noinline)) int risky(int n) { if (n > 3) throw std::runtime_error("x"); return n; }
struct Guard { int *place; ~Guard() { *place = 1; } };
__attribute__((noinline)) int careful(int n, int *state) {
  Guard guard{state};
  try {
    return risky(n) + risky(n + 1);
  } catch (std::logic_error &) { *state |= 4; throw; } catch (...) { *state |= 2; }
  return *state;
}
int main(int count, char **) { int state = 0; return careful(count, &state); }
"""


def test_where_exceptions_land_and_jump_on(tmp_path: Path) -> None:
    """Behind the last return, where no flow leads to, a landing pad jumps to the cold part."""
    twin = name_twins.build(tmp_path, "-O2", "-rdynamic", source=LANDING_CXX, compiler="g++")
    true = true_parts(twin)["_Z7carefuliPi.cold"]
    assert parts_of(name_twins.stripped(twin))[true] == "careful(int, int*) [clone .cold]"


@pytest.mark.parametrize(
    ("second", "named"),
    [
        ("jne common", False),
        (r"jmp 1f\n .byte 0x48,0xb8\n1: jne common", False),  # behind data
        (r"lea common(%rip),%rax\n jmp *%rax", False),
        ("call common", False),
        ("nop", True),
    ],
)
def test_what_two_functions_share_is_no_part(second: str, named: bool, tmp_path: Path) -> None:
    source = SHARED.replace("SECOND", second)
    twin = name_twins.build(tmp_path, "-O1", "-rdynamic", source=source)
    assert set(parts_of(name_twins.stripped(twin)).values()) == ({"one.cold"} if named else set())


# A function by hand whose table says once more what holds on entry; one that is linked lazily.
TAIL_CALLS = r"""
#include <stdio.h>
int leaf(int *);
__asm__(".text\n.skip 300,0x90\n.type leaf,@function\nleaf: .cfi_startproc\n"
        ".cfi_def_cfa rsp, 8\n movl (%rdi),%eax\n ret\n.cfi_endproc\n.size leaf,.-leaf\n"
        ".skip 300,0x90\n");
__attribute__((noinline)) int visible(int *n) { return leaf(n + 3); }
__attribute__((noinline)) int printing(int n) { return puts(n > 3 ? "a" : "b"); }
int main(int count, char **words) { return visible((int *)words) + printing(count) + 1; }
"""


@pytest.mark.parametrize("flags", ["-O2", "-O2 -fcf-protection=none", "-O2 -fcf-protection=full"])
def test_tail_calls_lead_to_no_part(flags: str, tmp_path: Path) -> None:
    options = ("-rdynamic", "-fno-toplevel-reorder", "-Wl,-z,lazy")
    twin = name_twins.build(tmp_path, *options, *flags.split(), source=TAIL_CALLS)
    assert parts_of(name_twins.stripped(twin)) == {}


@pytest.mark.parametrize(("count", "named"), [(3, 3), (100, 0)])
def test_more_parts_than_a_function_has_are_none(count: int, named: int, tmp_path: Path) -> None:
    jumps = "".join(f"je part_{n}\n" for n in range(count))
    parts = "".join(
        f"part_{n}: .cfi_startproc\n.cfi_def_cfa_offset 16\npop %rbx\n"
        ".cfi_def_cfa_offset 8\nret\n.cfi_endproc\n.skip 3,0x90\n"
        for n in range(count)
    )
    source = tmp_path / "program.s"
    source.write_text(
        ".globl main\n.type main,@function\nmain: .cfi_startproc\npush %rbx\n"
        f".cfi_adjust_cfa_offset 8\n{jumps}pop %rbx\n.cfi_adjust_cfa_offset -8\nret\n"
        f".cfi_endproc\n.size main,.-main\n.skip 300,0x90\n{parts}"
    )
    run(["gcc", "-rdynamic", "-s", "-o", str(tmp_path / "bare"), str(source)])
    assert list(parts_of(tmp_path / "bare").values()) == ["main.cold"] * named


@pytest.mark.parametrize(
    ("symbol", "shown"),
    [
        ("_RNvCs1234_7mycrate3foo", "mycrate::foo.cold"),
        ("_ZN3foo3bar17h0123456789abcdefE", "foo::bar.cold"),
        ("_D3foo3barFZv", "foo.bar().cold"),
        ("_ZN3foo3barEv", "foo::bar() [clone .cold]"),
        ("plain", "plain.cold"),
    ],
)
def test_names_of_all_languages(symbol: str, shown: str, tmp_path: Path) -> None:
    twin = name_twins.build(
        tmp_path, "-O1", "-rdynamic", source=SHARED.replace("SECOND", "nop").replace("one", symbol)
    )
    assert list(parts_of(name_twins.stripped(twin)).values()) == [shown]
