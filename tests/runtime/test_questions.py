"""Who am I, who called me: in every build of a program, by tables, frame pointers, or in words."""

from __future__ import annotations

import lzma
import re
import subprocess
from pathlib import Path

import pytest
from corpus.names import debug_file
from oracles import nm_table
from oracles.distribution import LIBRARIES as SYSTEM

from runtime.lab import LIBRARIES, build

STATIC = str(LIBRARIES / "libwhocall.a")
NO_TABLES = ("-g0", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
NO_INDEX = "-Wl,--no-eh-frame-hdr"
CHAINS = {
    "chain": ["test_c", "test_b", "test_a", "main"],
    "qsort": ["test_c", "compare", "msort_with_tmp", "msort_with_tmp", "qsort_r", "main"],
    "signal": [
        "test_c",
        "handler",
        "__restore_rt",
        "__pthread_kill_implementation",
        "raise",
        "main",
    ],
}
BUILDS = {
    "-O0": ("-O0", STATIC),
    "-O2": ("-O2", STATIC),
    "-O2, static functions": ("-O2", "-DSTATIC", STATIC),
    "-O0, not PIE": ("-O0", "-no-pie", "-fno-pie", STATIC),
    "-O2, not PIE, static functions": ("-O2", "-DSTATIC", "-no-pie", "-fno-pie", STATIC),
    "-O2, shared library": ("-O2", f"-L{LIBRARIES}", "-lwhocall", f"-Wl,-rpath,{LIBRARIES}"),
    "-O2, static program": ("-O2", "-static", "-Wl,--eh-frame-hdr", STATIC),
    "-O0, static program without an index": ("-O0", "-static", NO_INDEX, STATIC),
    "-O2, static program without an index": ("-O2", "-static", NO_INDEX, STATIC),
    "-O2, static PIE": ("-O2", "-static-pie", STATIC),
    "-O0, frame pointers": ("-O0", *NO_TABLES, STATIC),
    "-O2, frame pointers": ("-O2", *NO_TABLES, "-fno-omit-frame-pointer", STATIC),
    "-O2, frame pointers, not PIE": (
        *("-O2", *NO_TABLES, "-fno-omit-frame-pointer", "-no-pie", "-fno-pie", STATIC),
    ),
}


def said(program: Path, way: str) -> dict[str, list[str]]:
    """The answers by question: "function [trust]"."""
    ran = subprocess.run([program, way], capture_output=True, text=True, check=True)
    answers: dict[str, list[str]] = {}
    for line in ran.stdout.splitlines():
        question, _, answer = line.partition(": ")
        answers.setdefault(question, []).append(answer)
    return answers


def with_the_librarys_own(chain: list[str], program: Path, flags: tuple[str, ...]) -> list[str]:
    """Later C libraries have their merge sort in a function below qsort_r, if nm lists it."""
    static = {"-static", "-static-pie"} & set(flags)
    library = program if static else debug_file(SYSTEM / "libc.so.6")
    assert library is not None, "install libc6-dbg"
    sort = "qsort_r_mergesort"
    if all(symbol.name != sort for symbol in nm_table.symbols(library)):
        return chain
    return [each for name in chain for each in ([sort, name] if name == "qsort_r" else [name])]


@pytest.mark.parametrize("flags", BUILDS.values(), ids=BUILDS.keys())
def test_the_callers(tmp_path: Path, flags: tuple[str, ...]) -> None:
    program = build(tmp_path, "questions.c", *flags)
    chained = set(NO_TABLES) <= set(flags)
    for way, chain in CHAINS.items():
        answers = said(program, way)
        names = [answer.partition(" [")[0].partition(".")[0] for answer in answers["frame"]]
        # A static program has other names for these.
        names = [{"gsignal": "raise", "__qsort_r": "qsort_r"}.get(name, name) for name in names]
        assert names == with_the_librarys_own(chain, program, flags), answers
        assert answers["who am I"][0].startswith("test_c ")
        assert answers["who called"][0].startswith(chain[1] + " ")
        assert answers["captured"] == ["the same"]
        assert answers["by address"] == ["main [context]"]
        trust = "[analysis]" if chained else "[cfi]"
        assert answers["frame"][1].endswith(trust)


def test_in_words_where_nothing_leads_on(tmp_path: Path) -> None:
    """Neither tables nor symbols, and no call that says what it calls: no invented caller."""
    source = tmp_path / "words.c"
    source.write_text(
        """
        #include "whocall.h"
        __attribute__((noinline)) void alone(void) { who_call_me(0); __asm__ volatile(""); }
        void (*volatile called)(void) = alone;
        int main(void) { who_am_i(0); called(); whocall_frame frame; return who_call_me(&frame); }
        """
    )
    program = build(tmp_path, str(source), "-O2", "-s", *NO_TABLES, "-fomit-frame-pointer", STATIC)
    ran = subprocess.run([program], capture_output=True, text=True, check=False)
    assert ran.returncode == 255
    first, second = ran.stderr.splitlines()
    assert re.fullmatch(r"I am \? in \S+words\(\+0x\w+\)", first)
    assert re.match(r"who called \? in \S+words\(\+0x\w+\) is not known", second)
    assert second.endswith("no unwind table covers it, and no frame pointer leads on")


def test_a_label_in_a_function_is_no_name(tmp_path: Path) -> None:
    """Assemblers keep some that compilers make, as local symbols of no type."""
    source = tmp_path / "label.c"
    source.write_text(
        """
        #include <stdio.h>
        #include "whocall.h"
        int main(void) {
          whocall_frame frame;
          find_function_by_addr((const char *)main + 1, &frame);
          return puts(frame.function) < 0;
        }
        """
    )
    program = build(tmp_path, str(source), "-O1", "-no-pie", "-fno-pie", STATIC)
    (main,) = (each.address for each in nm_table.symbols(program) if each.name == "main")
    said = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True)
    (text,) = re.findall(r"\] \.text +PROGBITS +(\w+)", said.stdout)
    label = f".L26=.text:{main + 1 - int(text, 16):#x},local"
    subprocess.run(["objcopy", "--add-symbol", label, program], check=True)
    ran = subprocess.run([program], capture_output=True, text=True, check=True)
    assert ran.stdout == "main\n"


def test_a_library_that_is_opened_later(tmp_path: Path) -> None:
    """With static functions, before and after it was closed and opened again."""
    library = tmp_path / "later.c"
    library.write_text(
        """
        #include "whocall.h"
        __attribute__((noinline)) static void inner(void) { who_call_me(0); __asm__(""); }
        void later(void) { inner(); __asm__ volatile(""); }
        """
    )
    host = tmp_path / "host.c"
    host.write_text(
        """
        #include <dlfcn.h>
        #include "whocall.h"
        int main(int count, char **words) {
          for (int i = 0; i < 2; ++i) {
            void *handle = dlopen(words[1], RTLD_NOW);
            ((void (*)(void))dlsym(handle, "later"))();
            dlclose(handle);
          }
          return count == 9 ? who_call_me(0) : 0;
        }
        """
    )
    linked = (f"-L{LIBRARIES}", "-lwhocall", f"-Wl,-rpath,{LIBRARIES}")
    made = build(tmp_path, str(library), "-O2", "-shared", "-fPIC", *linked, name="later.so")
    program = build(tmp_path, str(host), "-O2", *linked)
    ran = subprocess.run([program, made], capture_output=True, text=True, check=True)
    assert ran.stderr.count(f"in {made}(") == 4
    for line in ran.stderr.splitlines():
        assert line.startswith("later+0x")
        assert " called inner+0x" in line


def test_files_that_the_dynamic_linker_does_not_know(tmp_path: Path) -> None:
    """Mapped by hand, and asked about by turns: no memory for each question."""
    source = tmp_path / "by_hand.c"
    source.write_text(
        """
        #include <fcntl.h>
        #include <stdio.h>
        #include <string.h>
        #include <sys/mman.h>
        #include "whocall.h"
        static long pages(void) {
          long all = 0;
          FILE *file = fopen("/proc/self/statm", "r");
          if (fscanf(file, "%ld", &all) != 1) return -1;
          fclose(file);
          return all;
        }
        int main(int count, char **words) {
          char *mapped[2];
          whocall_frame frame;
          long before = 0;
          for (int i = 0; i < 2; ++i) {
            const int file = open(words[1 + i], O_RDONLY);
            mapped[i] = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
          }
          for (int i = 0; i < 1000; ++i) {
            const char *wanted = words[1 + i % 2];
            if (find_function_by_addr(mapped[i % 2] + 64, &frame) != 0) return 1;
            if (strcmp(frame.module, wanted) != 0) return 2;
            if (i == 9) before = pages();
          }
          printf("%ld\\n", pages() - before);
          return 0;
        }
        """
    )
    files = [build(tmp_path, "questions.c", "-O1", STATIC, name=name) for name in ("one", "two")]
    program = build(tmp_path, str(source), "-O1", STATIC)
    ran = subprocess.run([program, *files], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 10  # pages


@pytest.mark.parametrize("preset", [0, 6, 9 | lzma.PRESET_EXTREME])
def test_static_functions_of_a_stripped_program(tmp_path: Path, preset: int) -> None:
    """Out of .gnu_debugdata, as some distributions ship it; without it there are no names."""
    more = tmp_path / "more.c"
    line = "__attribute__((used)) static int f{0}_{1}(void) {{ return {0}; }}\n"
    more.write_text("".join(line.format(number, number**5) for number in range(3000)))
    twin = build(tmp_path, "questions.c", "-O2", "-DSTATIC", str(more), STATIC)
    stripped, symbols, packed = (tmp_path / name for name in ("stripped", "symbols", "packed"))
    subprocess.run(["strip", "-o", stripped, twin], check=True)
    assert all("? " in answer for answer in said(stripped, "chain")["frame"][:4])
    subprocess.run(["objcopy", "--only-keep-debug", "--strip-debug", twin, symbols], check=True)
    packed.write_bytes(lzma.compress(symbols.read_bytes(), preset=preset))
    subprocess.run(["objcopy", f"--add-section=.gnu_debugdata={packed}", stripped], check=True)
    answers = said(stripped, "chain")["frame"]
    assert [answer.partition(" [")[0] for answer in answers] == CHAINS["chain"]


def test_prepared_names_need_no_files(tmp_path: Path) -> None:
    """Static functions are named where no file can be opened any more."""
    source = tmp_path / "prepared.c"
    source.write_text(
        """
        #include <string.h>
        #include <sys/resource.h>
        #include "whocall.h"
        __attribute__((noinline)) static void inner(void) { who_call_me(0); __asm__(""); }
        __attribute__((noinline)) static void outer(void) { inner(); __asm__ volatile(""); }
        int main(int count, char **words) {
          const struct rlimit none = {3, 3};
          if (strcmp(words[1], "prepared") == 0) whocall_prepare();
          setrlimit(RLIMIT_NOFILE, &none);
          outer();
          return count == 9;
        }
        """
    )
    program = build(tmp_path, str(source), "-O1", STATIC)
    for word, names in (("prepared", ("outer+0x", "inner+0x")), ("not", ("? in", "? in"))):
        ran = subprocess.run([program, word], capture_output=True, text=True, check=True)
        caller, callee = ran.stderr.split(" called ")
        assert (caller.startswith(names[0]), callee.startswith(names[1])) == (True, True), ran


def test_symbols_of_another_build_are_not_taken(tmp_path: Path) -> None:
    """The file was replaced after the program began: its names would be wrong ones."""
    source = tmp_path / "replaced.c"
    source.write_text(
        """
        #include <stdio.h>
        #include <unistd.h>
        #include "whocall.h"
        __attribute__((noinline)) static void NAME(void) { who_am_i(0); __asm__(""); }
        int main(int count, char **words) {
          rename(words[1], words[0]);
          NAME();
          return count == 9;
        }
        """
    )
    program = build(tmp_path, str(source), "-O1", "-DNAME=before", STATIC, name="replaced")
    other = build(tmp_path, str(source), "-O1", "-DNAME=after", STATIC, name="other")
    ran = subprocess.run([program, other], capture_output=True, text=True, check=True)
    assert "after" not in ran.stderr
    assert ran.stderr.startswith("I am ? in ")
