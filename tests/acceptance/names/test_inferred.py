"""Names that code and data prove: `_start` and `main` by the start-up code, virtual functions by
the tables of their classes. The oracle is nm on the unstripped twin.
"""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from oracles import nm_table
from oracles.linkers import USE_ANOTHER

from acceptance.helpers import name_twins
from acceptance.helpers.function_tables import make_unstripped
from whocall import demangle
from whocall.base.native_module import native

SPELLINGS = {
    # The demangler's words for these types, and what it writes for their members.
    "std::iostream": "std::basic_iostream<char, std::char_traits<char> >",
    "std::istream": "std::basic_istream<char, std::char_traits<char> >",
    "std::ostream": "std::basic_ostream<char, std::char_traits<char> >",
}


def inferred(path: Path) -> dict[int, tuple[str, str]]:
    """(name, source) of every marked function."""
    table = native.functions(str(path))
    found = (table[at] for at in range(len(table)))
    return {each[0]: (each[2], each[3]) for each in found if each[6]}


def true_names(twin: Path) -> dict[int, set[str]]:
    """All names, demangled, by address."""
    names: dict[int, set[str]] = defaultdict(set)
    for each in nm_table.symbols(twin):
        names[each.address].add(demangle(each.name.partition("@")[0]))
    return names


def entry_names(twin: Path) -> set[str]:
    """The names from the entry point, all of them true."""
    true = true_names(twin)
    found = inferred(name_twins.stripped(twin))
    names = {name for name, source in found.values() if source == "entry"}
    wrong = [
        (hex(at), name, true[at])
        for at, (name, source) in found.items()
        if source == "entry" and name not in true[at]
    ]
    assert not wrong
    return names


@pytest.mark.parametrize(
    "flags",
    ["-m64", "-no-pie", "-static", "-static-pie", "-fcf-protection", "-fno-plt",
     "-Wl,-z,pack-relative-relocs", USE_ANOTHER, "-Os", "-O2 -no-pie",
     "-m32", "-m32 -no-pie", "-m32 -static", "-m32 -static-pie", "-m32 -fno-plt"],
)  # fmt: skip
def test_main_of_glibc(flags: str, tmp_path: Path) -> None:
    assert {"_start", "main"} <= entry_names(name_twins.build(tmp_path, *flags.split()))


WRAPPED = r"""
asm(".text\n.globl _start\n.type _start, @function\n_start:\n"
    "xor %ebp, %ebp\npop %esi\nmov %esp, %ecx\nand $-16, %esp\npush %eax\npush %esp\npush %edx\n"
    "call 1f\nadd $_GLOBAL_OFFSET_TABLE_, %ebx\npush $0\npush $0\npush %ecx\npush %esi\n"
    "lea wrapper@GOTOFF(%ebx), %eax\npush %eax\ncall __libc_start_main\nhlt\n"
    "1: mov (%esp), %ebx\nret\n"
    ".type wrapper, @function\nwrapper: jmp main\n.size _start, .-_start");
"""


def test_main_behind_a_jump_of_the_start_up_code(tmp_path: Path) -> None:
    """As i386's glibc hands it over from 2.37 on; a main that is a jump is main all the same."""
    source = WRAPPED + "int other(int); int main(int count) { return other(count); }\n"
    source += "__attribute__((noinline)) int other(int count) { return count * 2; }\n"
    command = ("-O2", "-m32", "-no-pie", "-nostartfiles")
    assert {"_start", "main"} <= entry_names(name_twins.build(tmp_path, *command, source=source))


@pytest.mark.parametrize("flags", ["-O2", "-static", "-no-pie -static", "-Os -no-pie"])
def test_main_of_musl(flags: str, tmp_path: Path) -> None:
    twin = name_twins.build(tmp_path, *flags.split(), compiler="musl-gcc")
    assert {"_start", "_start_c", "main"} <= entry_names(twin)


def test_an_entry_point_of_one_s_own_is_no_start(tmp_path: Path) -> None:
    """It calls a function with another in the first argument, as _start does."""
    source = """
      int callee(void *a) { return a != 0; }
      int other(void) { return 1; }
      void begin(void) { callee(other); for (;;) __builtin_trap(); }
    """
    flags = ("-nostdlib", "-static", "-Wl,-e,begin", "-fno-inline")
    assert entry_names(name_twins.build(tmp_path, *flags, source=source)) == set()


def test_the_form_alone_is_no_proof_where_imports_speak_against_it(tmp_path: Path) -> None:
    """glibc's _start, but it calls something else."""
    source = """
      extern int puts(const char *);
      int other(void) { return 1; }
      __asm__(".globl begin\\nbegin: xor %ebp,%ebp\\nmov %rdx,%r9\\npop %rsi\\nmov %rsp,%rdx\\n"
              "and $-16,%rsp\\npush %rax\\npush %rsp\\nxor %r8d,%r8d\\nxor %ecx,%ecx\\n"
              "lea other(%rip),%rdi\\ncall *puts@GOTPCREL(%rip)\\nhlt\\n");
    """
    flags = ("-nostartfiles", "-Wl,-e,begin")
    assert entry_names(name_twins.build(tmp_path, *flags, source=source)) == set()


def test_init_of_another_name_is_not_called_init(tmp_path: Path) -> None:
    assert "_init" in entry_names(name_twins.build(tmp_path))
    assert "_init" not in entry_names(name_twins.build(tmp_path, "-Wl,-init,exported"))


SHAPES = r"""
#include <csignal>
#include <cstdio>
namespace geo {
struct Shape {
  virtual double area() const = 0;
  virtual void name(char *out) const { std::sprintf(out, "shape %f", area()); }
  virtual ~Shape() {}
};
struct Tagged { virtual int tag() const { return 7; } int t = 1; virtual ~Tagged() {} };
struct Circle : Shape {
  double r; explicit Circle(double v) : r(v) {}
  double area() const override { std::raise(SIGSTOP); return 3 * r * r; }
};
struct Square : Shape, Tagged {
  double s; explicit Square(double v) : s(v) {}
  double area() const override { return s * s; }
  int tag() const override { return 9; }
  void name(char *out) const override { std::sprintf(out, "square %f", s); }
};
struct Base : virtual Tagged { virtual int more() const { return t + 5; } };
struct Diamond : Base { int more() const override { return t + 6; } };
namespace { struct Hidden : Shape { double area() const override { return 1.5; } }; }
Shape *make(int kind) {
  switch (kind) {
    case 1: return new Circle(2);
    case 2: return new Square(3);
    default: return new Hidden();
  }
}
Base *other(int kind) { return kind ? new Base() : new Diamond(); }
}
int main(int argc, char **) {
  char text[100];
  double sum = 0;
  for (int i = 3; i > 0; --i) {
    geo::Shape *shape = geo::make(i * argc);
    shape->name(text);
    sum += shape->area() + geo::other(i)->more();
    delete shape;
  }
  return static_cast<int>(sum);
}
"""


@dataclass
class Slots:
    """How many functions have a name by their slot, and those that belong to another class."""

    count: int = 0
    wrong: list[str] = field(default_factory=list)
    inherited: list[str] = field(default_factory=list)  # from a class without a table in the file


def judge_vtables(twin: Path) -> Slots:
    """By nm: the functions of a class have its name, and its table is a symbol as well."""
    true = true_names(twin)
    prefix = "vtable for "
    data = nm_table.symbols(twin, types=frozenset("VvdDrRbB"))
    tables = {demangle(each.name).removeprefix(prefix) for each in data if "_ZTV" in each.name}
    verdict = Slots()
    for address, (name, source) in inferred(name_twins.stripped(twin)).items():
        if source != "vtable":
            continue
        verdict.count += 1
        owner = re.sub(r"::\[slot \d+\]$", "", name)
        owners = {owner, SPELLINGS.get(owner, owner)}
        # A thunk's name ends in that of its function.
        if not any(f"{each}::" in one for each in owners for one in true[address]):
            said = f"{address:#x}: {name}, in truth {sorted(true[address])}"
            known = any(f"{each}::" in one for each in tables for one in true[address])
            (verdict.wrong if known else verdict.inherited).append(said)
    return verdict


@pytest.mark.parametrize(
    "flags",
    ["-O1", "-O2", "-no-pie", "-static", "-static-pie", "-Wl,-z,pack-relative-relocs",
     "-Wl,-z,norelro", "-m32", "-m32 -no-pie", "-m32 -static"],
)  # fmt: skip
def test_virtual_functions(flags: str, tmp_path: Path) -> None:
    twin = name_twins.build(tmp_path, *flags.split(), source=SHAPES, compiler="g++")
    slots = judge_vtables(twin)
    assert not slots.wrong + slots.inherited
    names = {name for name, _ in inferred(twin.with_name("bare")).values()}
    classes = ("Circle", "Square", "(anonymous namespace)::Hidden")
    assert {f"geo::{each}::[slot 0]" for each in classes} | {"geo::Square::[slot 1]"} <= names
    # Shape::name stands in the tables of Circle and of Hidden: neither owns it.
    assert "geo::Circle::[slot 1]" not in names
    print(f"\n{flags}: {slots.count} virtual functions named", end="")


def test_a_list_of_type_infos_is_no_virtual_table(tmp_path: Path) -> None:
    """It ends with a 0, where an abstract class has two; the function behind it is a stranger."""
    source = """
      #include <typeinfo>
      struct Asked { virtual int answer() { return 1; } };
      int stranger() { return 2; }
      struct List { const void *before; const std::type_info *only; const void *end; int (*f)(); };
      extern const List list;
      const List list = {nullptr, &typeid(Asked), nullptr, stranger};
      Asked *make() { return new Asked; }
      int main() { return make()->answer() + list.f(); }
    """
    twin = name_twins.build(tmp_path, source=source, compiler="g++")
    assert judge_vtables(twin) == Slots(1)


@pytest.mark.parametrize("flags", ["-O1", "-no-pie", "-m32", "-m32 -no-pie"])
def test_a_table_ends_where_another_object_begins(flags: str, tmp_path: Path) -> None:
    """A pair of function pointers stands right behind it, as those of a std::function do."""
    source = r"""
      #if __SIZEOF_POINTER__ == 8
      #define WORD ".quad "
      #define SKIP "16"
      #else
      #define WORD ".long "
      #define SKIP "8"
      #endif
      typedef int (*Function)();
      extern "C" __attribute__((visibility("hidden"))) Function pair[2];
      struct Asked { virtual int answer(); };
      int answer(Asked *) asm("_ZN5Asked6answerEv");
      int answer(Asked *) { return 1; }
      extern "C" int stranger() { return 2; }
      extern "C" int other() { return 3; }
      asm(".section .data.rel.ro,\"aw\"\n.balign 8\n"
          "_ZTI5Asked: " WORD "_ZTVN10__cxxabiv117__class_type_infoE+" SKIP ", _ZTS5Asked\n"
          ".globl _ZTV5Asked\n_ZTV5Asked: " WORD "0, _ZTI5Asked, _ZN5Asked6answerEv\n"
          "pair: " WORD "stranger, other\n"
          "_ZTS5Asked: .asciz \"5Asked\"\n.text");
      Asked *make() { return new Asked; }
      int main() { return make()->answer() + pair[1]() + pair[0](); }
    """
    twin = name_twins.build(tmp_path, *flags.split(), source=source, compiler="g++")
    assert judge_vtables(twin) == Slots(1)


def test_what_stands_behind_pure_virtual_functions(tmp_path: Path) -> None:
    """In a static program that calls none they are 0, as the word before the next table is."""
    source = """
      struct Base {
        Base();
        virtual int before();
        virtual int first() = 0;
        virtual int second() = 0;
        virtual int behind();
      };
      Base::Base() {}
      int Base::before() { return 1; }
      int Base::behind() { return 2; }
      struct Heir : Base {
        int first() override { return 3; }
        int second() override { return 4; }
        virtual int last() { return 5; }
      };
      __attribute__((noinline)) Base *make() { return new Heir; }
      int main() { return make()->first() + make()->second() + make()->behind(); }
    """
    twin = name_twins.build(tmp_path, "-static", source=source, compiler="g++")
    assert not any(each.name == "__cxa_pure_virtual" for each in nm_table.symbols(twin))
    slots = judge_vtables(twin)
    assert not slots.wrong + slots.inherited
    names = {name for name, _ in inferred(twin.with_name("bare")).values()}
    assert {"Base::[slot 0]", "Heir::[slot 1]", "Base::[slot 3]", "Heir::[slot 4]"} <= names
    assert "Base::[slot 4]" not in names


def test_without_type_information_nothing_is_said(tmp_path: Path) -> None:
    twin = name_twins.build(tmp_path, "-fno-rtti", source=SHAPES, compiler="g++")
    assert judge_vtables(twin).count == 0


def test_virtual_functions_of_real_code(tmp_path: Path) -> None:
    total = bad = 0
    for path in make_unstripped():
        twin = Path(shutil.copy(path, tmp_path / "twin"))
        slots = judge_vtables(twin)
        named = f"{len(slots.inherited)} by an heir, {len(slots.wrong)} wrong"
        print(f"\n{path.name}: {slots.count} by their slots, {named}", end="")
        total += slots.count
        bad += len(slots.wrong)
        # Where the file lacks the table of the class that a function is inherited from, nothing
        # tells of that: libstdc++ 16 has std::__format::_Fixedbuf_sink's, but not its base's.
        assert len(slots.wrong + slots.inherited) <= slots.count / 100, slots
    assert bad <= total / 1000
    assert total > 2000


def test_damaged_data_is_no_danger(tmp_path: Path) -> None:
    """Type infos, tables and relocations full of other values: no crash, no loop."""
    twin = name_twins.build(tmp_path, source=SHAPES, compiler="g++")
    contents = name_twins.stripped(twin).read_bytes()
    hostile = tmp_path / "hostile"
    for step in range(60):
        damaged = bytearray(contents)
        for at in range(0x2000 + step * 8, len(damaged) - 8, 61 * 8):
            damaged[at : at + 8] = contents[(at * 7) % (len(contents) - 8) :][:8]
        hostile.write_bytes(damaged)
        try:
            native.functions(str(hostile))
        except native.Error:
            continue
