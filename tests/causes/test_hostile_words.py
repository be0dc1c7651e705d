"""Texts are looked for in what may have been made on purpose: that ends, soon, and in no error."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from causes.last_words import ended
from causes.programs import core_of, happened
from causes.test_last_words import SILENT, TOLD
from whocall import Search, open_core
from whocall.report.causes.called import returned
from whocall.report.causes.cxx_types import exception_in, type_at
from whocall.report.causes.scene import Scene

PLANTED = r"""
#include <signal.h>
struct type { void **vtable; const char *name; struct type *base; long flags; void *more[2]; };
extern struct type one_base, bases;
void *vtables[] = {&one_base, 0, &bases, 0};
struct type one_base = {vtables + 1, "N10__cxxabiv120__si_class_type_infoE"};
struct type bases = {vtables + 1, "N10__cxxabiv121__vmi_class_type_infoE"};
struct type circle = {vtables + 1, "6circle", &circle};
/* As many bases as there is room for in the number, each of them itself. */
struct type crowd = {vtables + 3, "5crowd", (void *)0xffffffff00000000, 0};
struct { struct type of; void *entries[512]; } many = {{vtables + 3, "4many"}};
struct type unnamed = {vtables + 1, (void *)0x41414141, &circle};
struct type strange = {vtables + 1, "not a name\x1b[31m", &circle};
struct type no_class = {(void **)&circle, "8no_class", &circle};
void *object[4] = {object, object, object, object};
__asm__(".text\n"
  ".macro fn name\n.globl \\name\n.type \\name,@function\n\\name:\n.endm\n"
  "fn circles\n jmp circles\n"
  "fn descends\n call descends\n ret\n"
  "fn leaves\n mov (%rdi), %rax\n jmp *%rax\n"
  "fn reads\n mov $-8, %rax\n mov (%rax), %rax\n ret\n"
  "fn writes\n mov %rdi, (%rdi)\n mov %rdi, %rax\n ret\n"
  "fn returns\n pop %rcx\n mov %rdi, %rax\n push %rdi\n ret\n"
  "fn loses\n mov %rax, %rsp\n push %rdi\n pop %rax\n ret\n"
  "fn fetches\n push %rbp\n mov %rsp, %rbp\n mov %rdi, -8(%rbp)\n mov -8(%rbp), %rax\n"
  " mov 8(%rax), %rax\n add $4, %rax\n pop %rbp\n ret\n"
  "fn lesser\n mov (%rdi), %rax\n mov $5, %al\n ret\n"
  "fn covered\n mov %rdi, -8(%rsp)\n movb $5, -6(%rsp)\n mov -8(%rsp), %rax\n ret\n"
  "fn unknown\n test %rcx, %rcx\n je 1f\n mov %rdi, %rax\n1: ret\n"
  "fn chooses\n testb $1, (%rdi)\n mov %rdi, %rax\n je 1f\n ret\n1: mov 8(%rdi), %rax\n"
  " add $8, %rax\n cmpb $-1, (%rdi)\n cmove %rdi, %rax\n ret\n"
  ".size circles, 2\n.size fetches, 24\n");
int main(void) {
  for (int i = 0; i < 512; i += 2) { many.entries[i] = &many; many.entries[i + 1] = (void *)2; }
  many.of.base = (void *)(512L << 32);
  raise(SIGABRT);
}
"""


@pytest.fixture(scope="module")
def scene(place: Path) -> Iterator[Scene]:
    core = core_of(PLANTED, place / "planted" / "planted", "-Wl,--defsym=nothing=0")
    with open_core(str(core)) as image:
        yield Scene(image, 0, image.backtrace(0))


def _variable(scene: Scene, name: str) -> int:
    found = scene.image.native.variable(0, name)
    assert found is not None
    return found


def _function(scene: Scene, name: str) -> int:
    table = scene.image.native.symbols(0)
    starts = [table[at].start for at in range(len(table)) if table[at].name == name]
    assert starts, name
    return starts[0] + scene.image.modules[0].bias


@pytest.mark.parametrize("name", ["circle", "crowd", "many"])
def test_bases_without_end_are_no_bases(scene: Scene, name: str) -> None:
    described = type_at(scene, _variable(scene, name))
    assert described is not None
    began = time.monotonic()
    assert exception_in(scene, described, _variable(scene, "object")) is None
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("name", ["unnamed", "strange", "no_class", "object"])
def test_what_only_looks_like_a_type_is_none(scene: Scene, name: str) -> None:
    assert type_at(scene, _variable(scene, name)) is None


@pytest.mark.parametrize(
    "name",
    [
        "circles",
        "descends",
        "leaves",
        "reads",
        "writes",
        "returns",
        "loses",
        "lesser",
        "covered",
        "unknown",
    ],
)
def test_what_does_more_than_fetch_returns_nothing(scene: Scene, name: str) -> None:
    assert returned(scene, _function(scene, name), _variable(scene, "object")) is None


def test_what_fetches_is_followed(scene: Scene) -> None:
    at = _variable(scene, "object")
    assert returned(scene, _function(scene, "fetches"), at) == at + 4
    assert at & 1 == 0
    assert returned(scene, _function(scene, "chooses"), at) == at + 8


@pytest.mark.parametrize(
    ("name", "how"),
    [("cxx", "derived"), ("cxx-static", "own"), ("rust-abort", "format"), ("go", "text"),
     ("go", "number"), ("c", "assertion"), ("python", "late")],
)  # fmt: skip
def test_memory_that_was_damaged_is_read_without_an_error(
    name: str, how: str, tmp_path: Path
) -> None:
    """Words of the memory are overwritten, each by another one of it or by chance."""
    whole = ended(name, (*TOLD[name], *SILENT.get(name, ())))[how].core.read_bytes()
    chance, core = random.Random(f"{name} {how}"), tmp_path / "core"
    text = happened_in(whole, core)
    told = 0
    for _ in range(12):
        data = bytearray(whole)
        for _ in range(400):
            to, source = (chance.randrange(4096, len(data) - 8) & ~7 for _ in range(2))
            data[to : to + 8] = chance.choice((whole[source : source + 8], chance.randbytes(8)))
        began = time.monotonic()
        told += happened_in(bytes(data), core) == text
        assert time.monotonic() - began < 20
    assert told  # most words are of no concern


def happened_in(data: bytes, core: Path) -> str:
    core.write_bytes(data)
    facts = happened(core, Search(debug_directories=()))["facts"]
    return str(facts[0]["text"]) if facts else ""
