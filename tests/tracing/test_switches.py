"""What is recorded: switched and filtered by the environment; libraries, plugins, many threads."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from tracing.lab import HOOKS, NATIVE, SHARED, Ran, build, profile, run, said

LIBRARY = """
int exported(int n) { return n + 1; }
int plugged(int n) { return exported(n) * 2; }
"""
PROGRAM = """
#include <dlfcn.h>
#include <stdlib.h>
int exported(int);
static int deeper(int n) { return n == 0 ? exported(n) : deeper(n - 1); }
int main(int count, char** words) {
  deeper(5);
  void* plugin = dlopen(words[1], RTLD_NOW);
  int (*plugged)(int) = (int (*)(int))dlsym(plugin, "plugged");
  plugged(2);
  abort();
}
"""
ALL = {"main": 1, "deeper": 6, "exported [libpart.so]": 1, "plugged [libplug.so]": 1,
       "exported [libplug.so]": 1}  # fmt: skip


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parts")
    (folder / "part.c").write_text(LIBRARY)
    (folder / "whole.c").write_text(PROGRAM)
    for name in ("part", "plug"):
        made = ["gcc", "-g", "-O0", HOOKS, "-fPIC", "-shared", "-Wl,-Bsymbolic"]
        made += [folder / "part.c", "-o", folder / f"lib{name}.so"]
        subprocess.run([str(word) for word in made], check=True)
    flags = [folder / "libpart.so", f"-Wl,-rpath,{folder}"]
    return build(folder, folder / "whole.c", "-O0", *flags, library=SHARED)


def traced(parts: Path, **settings: str) -> Ran:
    return run(parts, str(parts.parent / "libplug.so"), **settings)


def test_libraries_and_plugins(parts: Path) -> None:
    assert profile(traced(parts).core) == ALL


@pytest.mark.parametrize(
    ("variable", "value", "wanted"),
    [
        ("ONLY", "libpart.so", {"exported [libpart.so]": 1}),
        ("SKIP", "whole", {name: count for name, count in ALL.items() if "[" in name}),
        ("SKIP", "libpart.so,main", {name: count for name, count in ALL.items()
                                     if "libpart" not in name}),
        ("DEPTH", "2", {"main": 1, "deeper": 2, "plugged [libplug.so]": 1,
                        "exported [libplug.so]": 1}),
    ],
)  # fmt: skip
def test_filters(parts: Path, variable: str, value: str, wanted: dict[str, int]) -> None:
    ran = traced(parts, **{f"WHOCALL_TRACE_{variable}": value})
    found = profile(ran.core)
    assert {name: count for name, count in found.items() if count} == wanted


def test_a_filter_that_fits_nothing_is_told(parts: Path) -> None:
    ran = traced(parts, WHOCALL_TRACE_ONLY="libnone.so")
    assert ran.output == (
        "libwhocall-trace: WHOCALL_TRACE_ONLY: no loaded file and no exported function is called"
        " libnone.so\n"
    )


def test_stacks_alone(parts: Path) -> None:
    """No event, and still the live stack."""
    ran = traced(parts, WHOCALL_TRACE="stacks")
    assert profile(ran.core) == {"main": 0}
    assert "#0   main  <- __libc_start_call_main" in said("trace", ran.core, "--stacks")


def test_a_module_is_chosen_when_reading(parts: Path) -> None:
    core = traced(parts).core
    assert core is not None
    assert profile(core, "--module", "libplug.so") == {
        name: count for name, count in ALL.items() if "libplug" in name
    }


THREADS = """
#include <pthread.h>
#include <stdlib.h>
static void* leaf(void* unused) { return unused; }
static void* leaves(void* unused) { leaf(unused); pthread_exit(unused); }
int main(void) {
  for (int at = 0; at < 300; ++at) {
    pthread_t thread;
    pthread_create(&thread, NULL, leaves, NULL);
    pthread_join(thread, NULL);
  }
  abort();
}
"""


def test_threads_that_end(tmp_path: Path) -> None:
    """Their events stay; beyond so many threads their memory is used again."""
    (tmp_path / "threads.c").write_text(THREADS)
    exe = build(tmp_path, tmp_path / "threads.c")
    ran = run(exe)
    assert profile(ran.core) == {"main": 1, "leaves": 300, "leaf": 300}
    assert said("trace", ran.core).count("leaves, left without a return") == 300
    ran = run(exe, WHOCALL_TRACE_THREADS="10")
    assert profile(ran.core) == {"main": 1, "leaves": 9, "leaf": 9}


FORKS = """
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void leaf(void) {}
static void child(void) { leaf(); leaf(); }
int main(void) {
  leaf();
  if (fork() == 0) { child(); exit(0); }
  wait(NULL);
  return 0;
}
"""


def test_a_child_has_a_trace_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "forks.c").write_text(FORKS)
    exe = build(tmp_path, tmp_path / "forks.c")
    run(exe, WHOCALL_TRACE_FILE=str(tmp_path / "trace.%p"))
    first, second = sorted(
        tmp_path.glob("trace.*"), key=lambda path: "forked" in said("trace", path)
    )
    assert profile(first) == {"main": 1, "leaf": 1}
    assert profile(second) == {"main": 0, "child": 1, "leaf": 2}
    assert f"forked from process {first.suffix[1:]}" in said("trace", second)


STARTS = """
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void before(void) {}
static void behind(void) {}
static void other(void) {}
int main(int argc, char** argv) {
  if (argc == 1) { other(); other(); return 0; }
  before();
  if (strcmp(argv[1], "exec") == 0) execl(argv[0], argv[0], (char*)0);
  if (system(argv[0]) != 0) return 1;
  behind();
  return 0;
}
"""


def counts_of(folder: Path) -> dict[str, dict[str, int]]:
    return {path.name: profile(path) for path in sorted(folder.glob("trace*"))}


def test_processes_that_are_told_one_path_leave_each_other_alone(tmp_path: Path) -> None:
    """What a program starts has its environment; what it leads on to by exec has its id, too."""
    (tmp_path / "starts.c").write_text(STARTS)
    exe = build(tmp_path, tmp_path / "starts.c")
    assert run(exe, "system", WHOCALL_TRACE_FILE="trace").status == 0
    started = {"main": 1, "other": 2}
    assert counts_of(tmp_path) == {
        "trace": {"main": 1, "before": 1, "behind": 1},
        "trace.1": started,
    }
    assert run(exe, "exec", WHOCALL_TRACE_FILE="trace").status == 0  # both have ended: written anew
    assert counts_of(tmp_path) == {"trace": {"main": 1, "before": 1}, "trace.1": started}
    assert run(exe, WHOCALL_TRACE_FILE="trace").status == 0
    assert counts_of(tmp_path)["trace"] == started
    for path in tmp_path.glob("trace*"):
        path.unlink()
    assert run(exe, "exec", WHOCALL_TRACE_FILE="trace.%p").status == 0
    first, second = counts_of(tmp_path).items()
    assert second[0] == f"{first[0]}.1"
    assert (first[1], second[1]) == ({"main": 1, "before": 1}, started)


SIGNALLED = """
#include <signal.h>
static void first(void) {}
static void second(void) {}
static void third(void) {}
int main(void) {
  first();
  raise(SIGUSR2);
  second();
  raise(SIGUSR2);
  third();
  return 0;
}
"""


@pytest.fixture(scope="module")
def signalled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("signalled")
    (folder / "signalled.c").write_text(SIGNALLED)
    return build(folder, folder / "signalled.c")


@pytest.mark.parametrize(
    ("mode", "called"),
    [
        ("off", {"second": 1}),
        ("stacks", {"second": 1}),
        ("events", {"main": 1, "first": 1, "third": 1}),
    ],
)
@pytest.mark.parametrize("name", ["USR2", "SIGUSR2", str(int(signal.SIGUSR2))])
def test_a_signal_switches_events(
    signalled: Path, tmp_path: Path, mode: str, called: dict[str, int], name: str
) -> None:
    trace = tmp_path / "trace"
    ran = run(signalled, WHOCALL_TRACE=mode, WHOCALL_TRACE_SIGNAL=name,
              WHOCALL_TRACE_FILE=str(trace))  # fmt: skip
    assert (ran.status, ran.output) == (0, "")
    counted = {function: calls for function, calls in profile(trace).items() if calls}
    assert counted == called


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("KILL", "is no signal: write USR2 or a number"),
        ("SIG", "is no signal"),
        ("99999999999999999999", "is no signal"),
        ("9", "cannot be handled"),
        ("11", "is a signal of crashes"),
    ],
)
def test_what_is_no_signal_to_switch_at(signalled: Path, name: str, refused: str) -> None:
    """The program goes on, and by the first SIGUSR2 to its end."""
    ran = run(signalled, WHOCALL_TRACE_SIGNAL=name, dumps=False)
    assert ran.status == -signal.SIGUSR2
    assert f"libwhocall-trace: WHOCALL_TRACE_SIGNAL={name} {refused}" in ran.output


def test_a_signal_that_is_ignored_stays_so(signalled: Path, tmp_path: Path) -> None:
    """As of programs that nohup and its like start."""
    before = signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    try:
        ran = run(signalled, WHOCALL_TRACE_SIGNAL="USR2", dumps=False)
    finally:
        signal.signal(signal.SIGUSR2, before)
    assert ran.status == 0
    assert "is handled or ignored already" in ran.output


def test_only_the_names_of_the_header_are_exported() -> None:
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", str(SHARED)], capture_output=True, text=True, check=True
    )
    exported = {line.split()[2] for line in listed.stdout.splitlines()}
    header = (NATIVE / "runtime" / "trace" / "whocall_trace.h").read_text()
    declared = {
        line.split("(")[0].split()[-1].lstrip("*").rstrip(";")
        for line in header.splitlines()
        if line.startswith("WHOCALL_TRACE_API")
    }
    assert exported == declared | {"mcount", "__fentry__"}
