"""The library and the crash handler of other instruction sets, run by qemu-user."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from oracles import nm_table

from runtime.ahead import CHAIN, export, names, read, stripped
from runtime.asking import NO_TABLES, builds_of, run
from runtime.foreign import SETS, Foreign, build_libraries
from runtime.lab import build
from runtime.reports import read_record, read_reports

MODES = {"arm": [("-marm",), ("-mthumb",)]}


@pytest.fixture(scope="module", params=SETS, ids=[one.name for one in SETS])
def foreign(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Foreign, Path]:
    """The set, and the folder of its libraries; built by the library's own CMake project."""
    one: Foreign = request.param
    folder = tmp_path_factory.mktemp(one.name)
    build_libraries(one, folder)
    return one, folder


@pytest.mark.parametrize("optimized", ["-O0", "-O2"])
def test_the_callers(foreign: tuple[Foreign, Path], tmp_path: Path, optimized: str) -> None:
    one, made = foreign
    for mode in MODES.get(one.name, [()]):
        flags = (optimized, "-DSTATIC", *one.flags, *mode, str(made / "libwhocall.a"))
        program = build(tmp_path, "questions.c", *flags, compiler=f"{one.triple}-gcc")
        for way, caller in (("chain", "test_b"), ("qsort", "compare"), ("signal", "handler")):
            ran = one.run(program, way)
            lines = ran.stdout.splitlines()
            frames = [line.split()[1] for line in lines if line.startswith("frame: ")]
            assert f"who called: {caller} " in ran.stdout, ran
            assert "captured: the same" in lines
            assert frames[:2] == ["test_c", caller]
            assert frames[-1] == "main"


def test_rules_ahead(foreign: tuple[Foreign, Path], tmp_path: Path) -> None:
    """Of code with neither tables nor frame pointers, by the file that `whocall export` writes."""
    one, made = foreign
    flags = [flag for flag in one.flags if flag != "-funwind-tables"]
    for mode in MODES.get(one.name, [()]):
        library = str(made / "libwhocall.a")
        program, twin = stripped(tmp_path, *flags, *mode, library, triple=one.triple)
        export(program)
        found = read(program, one.run(program, "ask").stdout)
        assert names(twin, found.own)[: len(CHAIN)] == CHAIN


def test_without_rules(foreign: tuple[Foreign, Path], tmp_path: Path) -> None:
    """What is found of such code is true, with symbols and without: no frame that is made up."""
    one, made = foreign
    flags = [flag for flag in one.flags if flag != "-funwind-tables"]
    for mode in MODES.get(one.name, [()]):
        library = str(made / "libwhocall.a")
        program, twin = stripped(tmp_path, *flags, *mode, library, triple=one.triple)
        for each in (program, twin):
            found = names(twin, read(each, one.run(each, "ask").stdout).own)
            assert found[0] == "ask"
            assert found[: len(CHAIN)] == CHAIN[: len(found)]


def test_a_borrowed_frame_pointer(foreign: tuple[Foreign, Path], tmp_path: Path) -> None:
    """It is its caller's, and leads past it: then nobody can tell, or it is the true one."""
    one, made = foreign
    kept = ("-O1", *NO_TABLES, "-fno-omit-frame-pointer", str(made / "libwhocall.a"))
    for mode in MODES.get(one.name, [()]):
        flags = (*one.flags, *mode, *kept)
        program = build(tmp_path, "borrowed.c", *flags, compiler=f"{one.triple}-gcc")
        assert one.run(program).stdout in ("-1 ?\n", "0 middle\n")


VECTORS = """
#include <stdio.h>
#include "whocall.h"
static whocall_frame asked;
__attribute__((noinline)) double scaled(double by, double and, int times) {
  double sum = by * and;
  for (int i = 0; i < times; ++i) sum += who_call_me(&asked) * (sum * by) + and;
  return sum;
}
int main(int count, char **words) {
  const double sum = scaled(count, 2 * count, 3);
  printf("%s %g\\n", asked.function, sum);
  return 0;
}
"""


def test_a_frame_pointer_behind_vectors(foreign: tuple[Foreign, Path], tmp_path: Path) -> None:
    """It is set where their registers were saved, which are below the return address."""
    one, made = foreign
    (tmp_path / "vectors.c").write_text(VECTORS)
    kept = ("-O2", *NO_TABLES, "-fno-omit-frame-pointer", str(made / "libwhocall.a"))
    flags = (*one.flags, *MODES.get(one.name, [()])[0], *kept)
    program = build(tmp_path, str(tmp_path / "vectors.c"), *flags, compiler=f"{one.triple}-gcc")
    assert one.run(program).stdout == "main 8\n"


def test_random_programs_that_ask(foreign: tuple[Foreign, Path], tmp_path: Path) -> None:
    """No answer is wrong; with tables or frame pointers, each is one."""
    one, made = foreign
    builds = builds_of(one)
    answers = run(len(builds), 0, tmp_path, one, made)
    assert answers.wrong == [], answers.lines()
    for name, flags in builds.items():
        true, unknown = answers.kinds[name, "true"], answers.kinds[name, "cannot tell"]
        leads = "-fomit-frame-pointer" not in flags and not {"-mthumb", "-g0"} <= set(flags)
        assert true + unknown > 0, name
        assert not leads or unknown == 0, answers.lines()
        assert one.name != "aarch64" or true > 9 * unknown, answers.lines()


ADDRESS = """
#include <stdio.h>
#include "whocall.h"
int main(void) {
  whocall_frame frame;
  const int found = find_function_by_addr((const void *)main, &frame);
  printf("%d %s+%d %lx\\n", found, frame.function, (int)frame.function_offset, (long)frame.offset);
  return 0;
}
"""


def test_the_address_of_a_function(foreign: tuple[Foreign, Path], tmp_path: Path) -> None:
    """That of T32 code has a bit that is no part of its place."""
    one, made = foreign
    (tmp_path / "address.c").write_text(ADDRESS)
    for mode in MODES.get(one.name, [()]):
        flags = ("-O1", *one.flags, *mode, str(made / "libwhocall.a"))
        program = build(tmp_path, str(tmp_path / "address.c"), *flags, compiler=f"{one.triple}-gcc")
        (main,) = (each for each in nm_table.symbols(program) if each.name == "main")
        mask = ~1 if one.name == "arm" else ~0
        assert one.run(program).stdout == f"0 main+0 {main.address & mask:x}\n"


def test_a_crash(foreign: tuple[Foreign, Path], tmp_path: Path) -> None:
    one, made = foreign
    flags = ("-O2", *one.flags)
    program = build(tmp_path, "cases.c", *flags, compiler=f"{one.triple}-gcc")
    preload = str(made / "libwhocall-crash.so")
    for case, chain in {
        "plain": ["plain", "main"],
        "thread": ["plain", "in_thread"],
        "call_of_nothing": ["?", "call_of_nothing", "main"],
        "in_own_handler": ["plain", "crash_in_handler"],
    }.items():
        record = tmp_path / case
        settings = {"WHOCALL_CRASH_RECORD": str(record)}
        if one.qemu:
            settings["QEMU_SET_ENV"] = f"LD_PRELOAD={preload}"
        else:
            settings["LD_PRELOAD"] = preload
        ran = one.run(program, case, **settings)
        (report,) = read_reports(ran.stderr)
        assert report.names[: len(chain)] == chain, ran
        assert report.complete
        if case == "in_own_handler":
            assert "in_own_handler" in report.names
        told, _ = read_record(record.read_bytes())
        assert told.signal == signal.SIGSEGV
        listed = [address for address, *_ in told.threads[0].frames]
        assert listed == [frame.address for frame in report.frames()]
        # qemu takes the repeated signal for a fault of its own: it dies too, in its own words.
        assert ran.returncode != 0 if one.qemu else ran.returncode == -signal.SIGSEGV
