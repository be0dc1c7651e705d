"""Logs of stripped programs as the tools themselves write them; names come from another tree."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from oracles.tools import environment, run
from places.needs import FIXED_ADDRESSES

from acceptance.logs.judging import document, judge
from acceptance.logs.log_programs import (
    FUNCTIONS,
    SOURCE,
    Built,
    Ran,
    build,
    ran,
    resolved,
    tree,
    true_lines,
)

GDBS = ["gdb", *sorted(Path(__file__).resolve().parents[3].glob("build/gdbs/*/gdb"))]
"""The system's, and the later ones that there are."""
QUIET = {"ASAN_OPTIONS": "symbolize=0:detect_leaks=0", "UBSAN_OPTIONS": "symbolize=0"}


def test_glibc(tmp_path: Path) -> None:
    """backtrace_symbols_fd(): return addresses, of which one lies behind its function."""
    built = build("-DSYMBOLS")
    log = ran(built, tmp_path / "ran", "x")
    assert "crash" not in log.text
    found = document(log.text, "--symbols", tree(tmp_path, built.debug, "prog.debug"))
    places = judge(found, built.full)
    assert all(each["is_return_address"] for each in places)
    assert not any(each["verified"] for each in places)


def test_glibc_of_a_program_that_is_not_moved(tmp_path: Path) -> None:
    """Its lines hold addresses only, and since glibc 2.41 parentheses."""
    built = build("-DSYMBOLS", "-no-pie")
    log = ran(built, tmp_path / "ran", "x")
    assert re.search(r"/prog(\(\) )?\[0x4\w+\]", log.text)
    judge(document(log.text, "--symbols", tree(tmp_path, built.full, "prog")), built.full)


@pytest.mark.parametrize("named", [True, False])
def test_glibc_of_a_static_program(tmp_path: Path, named: bool) -> None:
    """Its lines do not name even the program: its calls are where these addresses return to."""
    built = build("-DSYMBOLS", "-static")
    log = ran(built, tmp_path / "ran", "x")
    assert re.fullmatch(r"(\[0x4\w+\]\n)+", log.text)
    symbols = tree(tmp_path, built.full, "prog")
    tree(tmp_path, build("-DSYMBOLS", "-no-pie").full, "other")
    words = ["--exe", symbols / "a" / "b" / "prog"] if named else []
    judge(document(log.text, "--symbols", symbols, *words), built.full)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_address_sanitizer(tmp_path: Path, compiler: str) -> None:
    """clang's tells build ids: there the debug file may have any name."""
    flags = ["-fsanitize=address", "-fno-omit-frame-pointer", "-gdwarf-4"]
    built = build(*flags, compiler=compiler)
    log = ran(built, tmp_path / "ran", **QUIET)
    told = "BuildId" in log.text
    symbols = tree(tmp_path, built.debug, "x.bin" if told else "prog.debug")
    found = document(log.text, "--symbols", symbols)
    stack = {**found, "places": [each for each in found["places"] if each["level"] is not None]}
    places = judge(stack, built.full)
    assert all(each["verified"] == told for each in places)


@pytest.mark.needs(FIXED_ADDRESSES)
def test_thread_sanitizer(tmp_path: Path) -> None:
    built = build("-fsanitize=thread", compiler="clang")
    log = ran(built, tmp_path / "ran", before=["setarch", "-R"], TSAN_OPTIONS="symbolize=0")
    assert "<null> <null>" in log.text
    found = document(log.text, "--symbols", tree(tmp_path, built.debug, "any"))
    stack = {**found, "places": [each for each in found["places"] if each["level"] is not None]}
    judge(stack, built.full)


def test_undefined_behaviour_sanitizer(tmp_path: Path) -> None:
    """It prints a stack where a program goes on."""
    built = build("-fsanitize=null")
    options = "symbolize=0:print_stacktrace=1"
    log = ran(built, tmp_path / "ran", UBSAN_OPTIONS=options)
    found = document(log.text, "--symbols", tree(tmp_path, built.debug, "prog.debug"))
    judge(found, built.full)


def test_valgrind(tmp_path: Path) -> None:
    """What it says of a fault; it is told not to take calls and their functions for one piece."""
    built = build()
    log = ran(built, tmp_path / "ran", before=["valgrind", "-q", "--vex-guest-chase=no"])
    first = log.text.split("Process terminating")[0]
    judge(document(first, "--symbols", tree(tmp_path, built.debug, "prog.debug")), built.full)


def test_gdb(tmp_path: Path) -> None:
    """The mappings are asked for in the same session."""
    built = build()
    commands = ["run", "info proc mappings", "bt"]
    words = [word for command in commands for word in ("-ex", command)]
    log = ran(built, tmp_path / "ran", before=["gdb", "-nx", "-q", "-batch", *words, "--args"])
    symbols = tree(tmp_path, built.debug, "prog.debug")
    found = document(log.text, "--symbols", symbols)
    stopped, *found["places"] = found["places"]
    assert (stopped["level"], stopped["is_return_address"]) == (None, False)
    assert stopped["function"] == "crash"
    places = judge(found, built.full)
    assert [each["is_return_address"] for each in places[:2]] == [False, True]
    text = resolved(log.text, "--symbols", symbols).stdout
    assert re.search(r"^#1  0x\w+ in caller\+0x\w+ at who.c:\d+$", text, re.MULTILINE)


@pytest.mark.parametrize("gdb", GDBS, ids=lambda gdb: Path(gdb).parent.name or "system")
def test_gdb_with_libraries(tmp_path: Path, gdb: str | Path) -> None:
    """They are listed behind the stack, which does not say where its frames lie: up to gdb 16 by
    .text, in gdb 18 by all segments.
    """
    # There is no virtual machine to wait for.
    alone = tmp_path / "alone.h"
    alone.write_text("#include <signal.h>\n#undef SIG_DFL\n#define SIG_DFL SIG_IGN\n")
    flags = ("-shared", "-fPIC", "-DLIBRARY", "-include", str(alone))
    built = build(*flags, name="libwho.so")
    place = tmp_path / "ran"
    place.mkdir()
    library = shutil.copy(built.stripped, place)
    commands = ["set startup-with-shell off", f"set environment LD_PRELOAD {library}", "run 2",
                "bt", "info sharedlibrary"]  # fmt: skip
    words = [word for command in commands for word in ("-ex", command)]
    done = subprocess.run(
        [gdb, "-nx", "-q", "-batch", *words, "/bin/sleep"], env=environment(),
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    shutil.rmtree(place)
    log = done.stdout.replace(f" from {library}", "")
    assert re.search(rf"^0x\w+  0x\w+  Yes \(\*\) +{re.escape(str(library))}$", log, re.MULTILINE)
    found = document(log, "--symbols", tree(tmp_path, built.debug, "libwho.so.debug"))
    found["places"] = [each for each in found["places"] if each["level"] is not None]
    judge(found, built.full, "libwho.so", ("deep", "crash", "caller", "last", "begin"))


def test_lldb(tmp_path: Path) -> None:
    """Its list of images tells builds and where they lie."""
    built = build()
    # Which addresses a program has is not for every place to say.
    words = ["-O", "settings set target.disable-aslr false"]
    words += ["-o", "run", "-k", "bt", "-k", "image list"]
    log = ran(built, tmp_path / "ran", before=["lldb", "--no-lldbinit", "-b", *words, "--"])
    stack = log.text[log.text.index("(lldb) bt") :]
    assert "prog`___lldb_unnamed" in stack
    symbols = tree(tmp_path, built.debug, "any")
    places = judge(document(stack, "--symbols", symbols), built.full)
    assert [each["is_return_address"] for each in places[:2]] == [False, True]
    assert all(each["verified"] for each in places)
    text = resolved(stack, "--symbols", symbols).stdout
    assert re.search(r"frame #1: 0x\w+ prog`caller\+0x\w+ at who.c:\d+$", text, re.MULTILINE)


def test_uftrace(tmp_path: Path) -> None:
    """Of a program that crashes under it: pairs of functions and their callers."""
    built = build("-pg", "-DSYMBOLS")
    folder, libraries = tmp_path / "data", tmp_path / "libraries"
    # In a crash uftrace reads debug information, for which a later libdw loads this library, which
    # uftrace watches by reading its debug information: libdw waits for itself. It need not load.
    libraries.mkdir()
    (libraries / "libdebuginfod.so.1").touch()
    log = ran(
        built, tmp_path / "ran", before=["uftrace", "record", "-d", str(folder)],
        LD_LIBRARY_PATH=str(libraries),
    )  # fmt: skip
    symbols = tree(tmp_path, built.debug, "prog.debug")
    shutil.copy(built.stripped, symbols)
    found = document(log.text, "--symbols", symbols)
    places = [each for each in found["places"] if each["format"] == "uftrace"]
    named = [each["function"] for each in places if each["function"]]
    assert named[-5:] == ["caller", "last", "last", "main", "main"]


TITLE = r"""
#include <string.h>
static __attribute__((constructor)) void title(int count, char **words) {
  extern char **environ;
  memset(words[0], 0, environ[0] - words[0]);
  strcpy(words[0], "postgres: @WORK@");
}
"""
WORK = ["bob shop [local] SELECT", "bob shop 10.0.0.1(4242) idle in transaction", "checkpointer ",
        "walsender bob [local] streaming 0/3000060"]  # fmt: skip


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("work", WORK)
def test_glibc_of_a_program_that_gave_itself_a_title(
    tmp_path: Path, work: str, named: bool
) -> None:
    """As Redis and PostgreSQL do. It is the file that was named, or one that the title names."""
    (tmp_path / "title.c").write_text(TITLE.replace("@WORK@", work))
    built = build("-DSYMBOLS", "-include", str(tmp_path / "title.c"))
    words = ["x" * 60, "-"]
    log = ran(built, tmp_path / "ran", *words)
    assert f"\npostgres: {work}(+0x" in log.text
    symbols = tree(tmp_path, built.debug, "postgres.debug")
    program = Path(shutil.copy(built.stripped, tmp_path / "prog"))
    given = ["--exe", program] if named else ["--symbols", symbols]
    if named:
        given += ["--debug-directory", tmp_path / "debug"]
        place = tmp_path / "debug" / ".build-id" / _build_id(built)[:2]
        place.mkdir(parents=True)
        shutil.copy(built.debug, place / f"{_build_id(built)[2:]}.debug")
    judge(document(log.text, *given), built.full, "prog" if named else "postgres")


def _build_id(built: Built) -> str:
    told = re.search(r"Build ID: (\w+)", run(["readelf", "-n", str(built.full)]))
    assert told is not None
    return told[1]


def test_mappings_and_bare_addresses(tmp_path: Path) -> None:
    built = build("-DADDRESSES")
    log = ran(built, tmp_path / "ran", "x")
    symbols = tree(tmp_path, built.debug, "prog.debug")
    judge(document(log.text, "--symbols", symbols), built.full)
    maps, _, words = log.text.partition("stack word")
    (tmp_path / "maps").write_text(maps)
    judge(document(words, "--symbols", symbols, "--maps", tmp_path / "maps"), built.full)


def test_the_source_has_the_lines() -> None:
    """So that the judge can fail."""
    assert [name for name, _, _ in true_lines()] == list(FUNCTIONS)
    assert all(f"/* {name} */" in SOURCE.splitlines()[line - 1] for name, _, line in true_lines())


def test_what_is_not_a_place_stays(tmp_path: Path) -> None:
    """Other lines, line ends, a last line without an end; what a terminal would obey, and what is
    no UTF-8, is told.
    """
    built = build("-DSYMBOLS")
    log: Ran = ran(built, tmp_path / "ran", "x")
    noise = "caf\udce9 \x1b[31mred\x1b[0m\r\n\ttab # 0x12 [0x1] (+0x1)\n\n\\x41\x00end"
    symbols = tree(tmp_path, built.debug, "prog.debug")
    done = resolved(log.text + noise, "--symbols", symbols)
    told = r"caf\xe9 \x1b[31mred\x1b[0m" + "\r\n\ttab # 0x12 [0x1] (+0x1)\n\n\\x41\\x00end"
    assert done.stdout.endswith(told)
    ours, theirs = (
        [line for line in text.splitlines() if "/prog(" in line] for text in (done.stdout, log.text)
    )
    assert len(ours) == len(theirs) > len(FUNCTIONS) - 1
    assert all(line.startswith(before) for line, before in zip(ours, theirs))
