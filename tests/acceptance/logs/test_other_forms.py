"""More forms of the kinds of logs that are known, with the addresses of a real stack."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from artifact_cache import compilers, kept
from oracles.tools import environment, run

from acceptance.logs.addresses import Stack, stack_of
from acceptance.logs.judging import Document, chain, document, judge, within
from acceptance.logs.log_programs import FUNCTIONS, Built, build, halves, ran, resolved
from acceptance.logs.test_real_logs import tree
from whocall.resolve.facts.context import Context
from whocall.resolve.formats import android, go, kernel


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    return stack_of(tmp_path_factory.mktemp("stack"))


def _mapped(stack: Stack, offset: int | None = None) -> str:
    begin, end, _ = stack.code
    place = "" if offset is None else f"{offset:x},"
    return f"prog[{place}{begin:x}+{end - begin:x}]"


def _aarch64(stack: Stack) -> str:
    """The registers stand some lines below what tells the file."""
    pc, lr = stack.addresses[0] - 1, stack.addresses[1]
    return (
        "[   12.1] prog[98]: unhandled exception: DABT (lower EL), ESR 0x0000000092000006, level 2 "
        f"translation fault in {_mapped(stack)}\n"
        "[   12.1] CPU: 3 PID: 98 Comm: prog Not tainted 6.1.0 #1\n"
        "[   12.1] Hardware name: QEMU QEMU Virtual Machine, BIOS 2022.11 in a rack + 1\n"
        "[   12.1] pstate: 80001000 (Nzcv daif -PAN -UAO -TCO -DIT +SSBS BTYPE=--)\n"
        f"[   12.1] pc : {pc:016x}\n[   12.1] lr : {lr:016x}\n[   12.1] sp : 0000ffffd1b2c3d0\n"
        "[   12.1] x29: 0000ffffd1b2c3d0 x28: 0000000000000000\n"
    )


def _aarch64_of_late(stack: Stack) -> str:
    begin, _, offset = stack.code
    place = stack.addresses[0] - 1 - begin + offset
    return _aarch64(stack).replace(_mapped(stack), _mapped(stack, place))


def _mips(stack: Stack) -> str:
    return (
        "do_page_fault(): sending SIGSEGV to prog for invalid read access from 00000000\n"
        f"epc = {stack.addresses[0] - 1:x} in {_mapped(stack)}\n"
        f"ra  = {stack.addresses[1]:x} in {_mapped(stack)}\n"
    )


def _power(stack: Stack) -> str:
    return (
        f"prog[98]: segfault (11) at 0 nip {stack.addresses[0] - 1:x} lr {stack.addresses[1]:x} "
        f"code 1 in {_mapped(stack)}\n"
    )


KERNELS: dict[str, tuple[Callable[[Stack], str], int]] = {
    "aarch64": (_aarch64, 2),
    "aarch64, with the place in the file": (_aarch64_of_late, 2),
    "mips": (_mips, 2),
    "power": (_power, 1),
}


@pytest.mark.parametrize("form", KERNELS)
def test_the_kernel_of_other_processors(tmp_path: Path, stack: Stack, form: str) -> None:
    shutil.copy(stack.built.full, tmp_path / "prog")
    write, count = KERNELS[form]
    found = document(write(stack), "--symbols", tmp_path)
    places = judge(found, stack.built.full, functions=FUNCTIONS[: count + 1])
    assert [each["is_return_address"] for each in places] == [False, True][:count]
    assert {each["format"] for each in places} == {"kernel"}


def test_registers_of_the_kernel_itself_are_none_of_a_program() -> None:
    """Nor are those of another report, or outside the program's code."""
    context = Context()
    told = "p[1]: unhandled exception: DABT, ESR 0x1, level 2 translation fault in p[aaaa000+1000]"
    assert kernel.places(told, context) == []
    assert kernel.places("pc : 000000000bbb0139", context) == []
    assert kernel.places("pc : 000000000aaaa139", context) != []
    assert kernel.places("p[1]: unhandled exception: DABT, ESR 0x1, no file", context) == []
    assert kernel.places("pc : 000000000aaaa139", context) == []


def test_an_old_glibcs_report_of_an_overflow(tmp_path: Path, stack: Stack) -> None:
    """Until glibc 2.25: the stack, and the mappings behind it."""
    shutil.copy(stack.built.debug, tmp_path / "prog.debug")
    frames = "".join(
        f"{stack.path}(+{address - stack.base:#x})[{address:#x}]\n" for address in stack.addresses
    )
    log = (
        f"*** buffer overflow detected ***: {stack.path} terminated\n"
        "======= Backtrace: =========\n"
        "/lib/x86_64-linux-gnu/libc.so.6(__fortify_fail+0x37)[0x7f2b3c4d5e67]\n"
        f"{frames}======= Memory map: ========\n{stack.maps}Aborted (core dumped)\n"
    )
    found = document(log, "--symbols", tmp_path)
    judge(found, stack.built.full)
    assert resolved(log, "--symbols", tmp_path).stdout.count("\n") == log.count("\n")


def _valgrind(stack: Stack, base: int, path: str) -> str:
    return "".join(
        f"==98==    {'by' if at else 'at'} {base + link - 1:#X}: ??? (in {path})\n".replace(
            "0X", "0x"
        )
        for at, link in enumerate(stack.links())
    )


@pytest.mark.parametrize("base", [0x108000, 0x4000000])
def test_the_program_in_valgrind(tmp_path: Path, stack: Stack, base: int) -> None:
    """Where older versions load it, and where later ones do."""
    shutil.copy(stack.built.debug, tmp_path / "prog.debug")
    judge(document(_valgrind(stack, base, "/x/prog"), "--symbols", tmp_path), stack.built.full)


def test_no_library_in_valgrind_is_taken_for_the_program(tmp_path: Path, stack: Stack) -> None:
    """Older versions have a library where later ones have the program, and both have others above.

    A file without an interpreter is a library, and so is one with a library's name.
    """
    library = build("-shared", "-fPIC", "-DLIBRARY", name="plugin")
    for file, path in ((stack.built.debug, "/x/prog.so.1"), (library.debug, "/x/plugin")):
        shutil.copy(file, tmp_path / (Path(path).name + ".debug"))
        found = document(_valgrind(stack, 0x4000000, path), "--symbols", tmp_path)
        assert [each["rva"] for each in found["places"]] == [None] * len(stack.links())


UNINITIALIZED = """
#include <stdio.h>
#include <stdlib.h>
static __attribute__((noinline)) int crash(int *p) { if (p[3] > 2) puts("x"); return p[1]; }
static __attribute__((noinline)) int caller(int *p) { int got = crash(p); return got + 1; }
int main(void) { volatile int v = caller(malloc(40)); return v; }
"""


def test_memory_sanitizer(tmp_path: Path) -> None:
    """Two stacks: where an unset value is used, and where it comes from."""

    def make(place: Path) -> Built:
        (place / "who.c").write_text(UNINITIALIZED)
        flags = ["-g", "-gdwarf-4", "-O1", "-fsanitize=memory", "-fsanitize-memory-track-origins"]
        subprocess.run(
            ["clang", *flags, "-Wl,--build-id", "who.c", "-o", "full"], cwd=place, check=True
        )
        return halves(place / "full", place / "prog")

    built = kept(("logs", UNINITIALIZED, compilers("clang")), make)
    log = ran(built, tmp_path / "ran", MSAN_OPTIONS="symbolize=0")
    found = document(log.text, "--symbols", tree(tmp_path, built.debug, "any"))
    places = within(found, "prog")
    assert [each["function"] for each in places][:3] == ["crash", "caller", "main"]
    assert [each["function"] for each in places if each["level"] == 1] == ["caller", "main"]
    assert all(each["verified"] for each in places)
    _as_addr2line(places, built.full)


def _as_addr2line(places: list[Document], full: Path, tool: str = "addr2line") -> None:
    """One byte before what a call returns to."""
    for place in places:
        address = int(place["rva"], 16) - place["is_return_address"]
        said = run([tool, "-Cfie", str(full), hex(address)]).splitlines()
        true = [(name, Path(line.split(" (")[0]).name) for name, line in zip(said[::2], said[1::2])]
        assert [(name, f"{file}:{line}") for name, file, line in chain(place)] == [
            each for each in true if not each[1].startswith("?")
        ]


GAME = """
#include <utility>
template <class T> __attribute__((noinline)) int crash(T *p, std::pair<int, char> q) {
  return *p + q.first;
}
static __attribute__((noinline)) int caller(int *p) { return crash<int>(p, {1, 'c'}) + 1; }
extern "C" int entry(int *p) { return caller(p) * 2; }
"""


def test_a_tombstone_of_arm64_with_names_of_cxx(tmp_path: Path) -> None:
    """Names have blanks and parentheses of their own, and the library lies in a package."""

    def make(place: Path) -> Path:
        (place / "game.cc").write_text(GAME)
        command = ["aarch64-linux-gnu-g++", "-g", "-gdwarf-4", "-O1", "-shared", "-fPIC"]
        subprocess.run(
            [*command, "-Wl,--build-id", "game.cc", "-o", "libgame.so"], cwd=place, check=True
        )
        return place / "libgame.so"

    full: Path = kept(("logs", GAME, compilers("aarch64-linux-gnu-g++")), make)
    code = run(["aarch64-linux-gnu-objdump", "-d", str(full)])
    # Not the first instruction: of two rows for an address binutils takes another than gdb and we.
    sums = re.findall(r"^ *(\w+):\s+\w+\s+add\s+w0, w0, w1", code, re.MULTILINE)
    calls = re.findall(r"^ *(\w+):\s+\w+\s+bl\s.*(?:crash|caller)", code, re.MULTILINE)
    told = re.search(r"Build ID: (\w+)", run(["readelf", "-n", str(full)]))
    assert told is not None
    names = ("int crash<int>(int*, std::pair<int, char>)+4", "caller(int*)+16", "entry+12")
    addresses = [int(word, 16) for word in (sums[0], *calls)]
    assert len(addresses) == len(names)
    log = "".join(
        f"      #{at:02} pc {address:016x}  /data/app/~~q==/com.x/base.apk!libgame.so "
        f"(offset 0x1000) ({name}) (BuildId: {told[1]})\n"
        for at, (address, name) in enumerate(zip(addresses, names))
    )
    shutil.copy(full, tmp_path / "any")
    found = document(log, "--symbols", tmp_path)
    assert [each["told"] for each in found["places"]] == [name.rsplit("+")[0] for name in names]
    assert [each["module"] for each in found["places"]] == ["libgame.so"] * 3
    _as_addr2line(found["places"], full, "aarch64-linux-gnu-addr2line")
    text = resolved(log, "--symbols", tmp_path).stdout
    for line, before, name in zip(text.splitlines(), log.splitlines(), names):
        assert name not in line  # ours takes its place
        assert line.startswith(before.partition(f"({name})")[0])
        assert line.endswith(f" (BuildId: {told[1]})")


@pytest.mark.parametrize(
    ("rest", "module", "symbol"),
    [
        ("/lib/libc.so (f(int, char)+64)", "/lib/libc.so", "f(int, char)"),
        ("/lib/libc.so (operator()(int) const+8)", "/lib/libc.so", "operator()(int) const"),
        ("/lib/libc.so", "/lib/libc.so", None),
        ("/memfd:jit-cache (deleted) (offset 0x2000000) (a.b(int)+1)", "/memfd:jit-cache",
         "a.b(int)"),
        ("/lib/libc.so (deleted)", "/lib/libc.so", None),
        ("/x/base.apk (offset 0x1000)", "/x/base.apk", None),
        ("<anonymous:7a12345000>", None, None),
    ],
)  # fmt: skip
def test_what_stands_behind_an_address_on_android(
    rest: str, module: str | None, symbol: str | None
) -> None:
    for end in ("", " (BuildId: 2a86d1c4e5f60718)"):
        (place,) = android.places(f"      #01 pc 00000000000011b0  {rest}{end}", Context())
        assert (place.module, place.symbol) == (module, symbol)
        assert place.build_id == (end[11:-1] or None)


PREEMPTED = """
package main

import "time"

var n int

//go:noinline
func spin() {
	for {
		n++
	}
}

func main() {
	go spin()
	time.Sleep(100 * time.Millisecond)
	x := map[int]int{}
	for at := 0; at < 2; at++ {
		go func() {
			for {
				x[1] = 2
			}
		}()
	}
	time.Sleep(20 * time.Second)
}
"""


def test_several_goroutines_of_a_fatal_error(tmp_path: Path) -> None:
    """One was interrupted in the middle of its loop: its address is that of an instruction."""

    def make(place: Path) -> Path:
        (place / "who.go").write_text(PREEMPTED)
        variables = {"GO111MODULE": "off", "HOME": str(place), "GOCACHE": str(place / "cache")}
        subprocess.run(
            ["/usr/bin/go", "build", "-o", "prog", "who.go"],
            cwd=place, env=environment() | variables, check=True,
        )  # fmt: skip
        shutil.rmtree(place / "cache")
        return place / "prog"

    program: Path = kept(("logs", PREEMPTED, compilers("/usr/bin/go")), make)
    done = subprocess.run(
        [program], env=environment() | {"GOTRACEBACK": "system"},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert "concurrent map writes" in done.stderr
    places = document(done.stderr, "--exe", program)["places"]
    assert all(each["function"] is not None for each in places)
    spinning = [each for each in places if each["function"] == "main.spin"]
    if "runtime.asyncPreempt(" in done.stderr:
        assert [each["is_return_address"] for each in spinning] == [False]


@pytest.mark.parametrize("name", ["runtime.sigpanic", "runtime.asyncPreempt"])
def test_what_go_makes_look_like_a_call(name: str) -> None:
    context = Context()
    frame = "\t/x/m.go:4 +0x1c fp=0xc000038760 sp=0xc000038758 pc=0x457c60"
    read = [
        place
        for line in (f"{name}()", frame, "main.spin(0x1)", frame, "main.main()", frame)
        for place in go.places(line, context)
    ]
    assert [place.caller for place in read] == [True, False, True]
