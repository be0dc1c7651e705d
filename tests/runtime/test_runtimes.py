"""Runtimes of languages with crash handlers of their own: these lose nothing, and a report is made
where the process ends by a signal. The table in docs/crash.md is what these tests see."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from artifact_cache import Tool, compilers, kept

from runtime.lab import PRELOAD, TIMEOUT_SECONDS
from runtime.reports import Report, read_reports

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "crash.md"
SEGV, ABRT = -signal.SIGSEGV, -signal.SIGABRT
OF_HANDLER = "whocall: a handler of the program had it first"
# Crashes a virtual machine from a thread of its own, as soon as that reports crashes.
LIBRARY = """
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
__attribute__((noinline)) void boom(void) { *(volatile int *)16 = 1; __asm__(""); }
static void *begin(void *unused) {
  struct sigaction now;
  do {
    usleep(1000);
    sigaction(SIGSEGV, 0, &now);
  } while (now.sa_handler == SIG_DFL);
  usleep(100000);
  boom();
  return unused;
}
__attribute__((constructor)) static void start(void) {
  pthread_t thread;
  pthread_create(&thread, 0, begin, 0);
}
"""
GO = """
package main
// static void boom(void) { *(volatile int *)16 = 1; }
import "C"
import ("fmt"; "os")
func recovered() (r int) {
  defer func() { if recover() != nil { r = 7 } }()
  var nothing *int
  return *nothing
}
func main() {
  fmt.Println("recovered", recovered())
  if len(os.Args) > 1 { C.boom() }
}
"""
RUST = """
fn deep(n: u64) -> u64 {
  let room = [n; 100];
  if n == u64::MAX { return 0; }
  deep(n + 1) + unsafe { std::ptr::read_volatile(&room[(n % 100) as usize]) }  // no loop
}
fn main() {
  if std::env::args().count() > 1 { println!("{}", deep(0)); }
  unsafe { *(16 as *mut i32) = 1; }
}
"""


def _library() -> list[str]:
    def make(place: Path) -> Path:
        (place / "boom.c").write_text(LIBRARY)
        command = ["gcc", "-O1", "-shared", "-fPIC", "boom.c", "-o", "libboom.so"]
        subprocess.run(command, cwd=place, check=True)
        return place / "libboom.so"

    return [str(kept(("runtimes", LIBRARY, compilers("gcc")), make))]


def _go() -> str:
    def make(place: Path) -> Path:
        (place / "boom.go").write_text(GO)
        given = os.environ | {"GOCACHE": str(place / "cache"), "CGO_ENABLED": "1"}
        command = ["/usr/bin/go", "build", "-o", "program", "boom.go"]
        subprocess.run(command, cwd=place, check=True, env=given)
        return place / "program"

    return str(kept(("runtimes", GO, Tool("/usr/bin/go"), compilers("gcc")), make))


def _rust() -> str:
    def make(place: Path) -> Path:
        (place / "boom.rs").write_text(RUST)
        command = ["/usr/bin/rustc", "-O", "-A", "warnings", "boom.rs", "-o", "program"]
        subprocess.run(command, cwd=place, check=True)
        return place / "program"

    return str(kept(("runtimes", RUST, Tool("/usr/bin/rustc"), compilers("gcc")), make))


@dataclass(frozen=True)
class Guest:
    """One way in which a runtime ends, as the table has it."""

    name: str
    own: str  # what it says itself; "" where that is nothing
    status: int
    command: Callable[[], list[str]]
    names: tuple[str, ...] = ()  # the innermost functions of the report; () where there is none
    by_handler: bool = False
    file: str = ""  # where it says so, if not on standard error
    libraries: Callable[[], list[str]] = list
    later: tuple[str, int] = ("", 0)  # what later versions say, and how they end, if otherwise

    @property
    def ways(self) -> list[tuple[str, int]]:
        """What it says, and how it ends: one of these."""
        return [(self.own, self.status), *([self.later] if self.later[1] else [])]

    def row(self) -> str:
        ends = (
            f"`{signal.Signals(-self.status).name}`" if self.status < 0 else f"exit {self.status}"
        )
        report = "of the crash" if self.names else "none"
        return f"| {self.name} | {f'“{self.own}”' if self.own else '-'} | {ends} | {report} |"


PYTHON = "import ctypes; ctypes.string_at(16)"
GUESTS = [
    Guest("Python", "", SEGV, lambda: ["/usr/bin/python3", "-c", PYTHON], ("*strlen*",)),
    Guest(
        *("Python, faulthandler", "Fatal Python error: Segmentation fault", SEGV),
        *(lambda: ["/usr/bin/python3", "-X", "faulthandler", "-c", PYTHON], ("*strlen*",), True),
    ),
    Guest(
        *("Perl", "", SEGV, lambda: ["perl", "-e", 'unpack("p", pack("Q", 16))']),
        *(("*strlen*", "Perl_newSVpv"),),
    ),
    Guest(
        *("bash, while it waits", "", SEGV),
        *(lambda: ["bash", "-c", "(sleep 0.3; kill -SEGV $$) & wait"], ("*wait*",)),
    ),
    Guest(
        *("Java", "A fatal error has been detected by the Java Runtime Environment", ABRT),
        *(lambda: ["java", "-XX:ErrorFile=hs_err.log", "-Xshare:dump"], ("boom", "begin"), True),
        *("hs_err.log", _library),
    ),
    Guest(
        *("Go, a crash in C", "fatal error: unexpected signal during runtime execution", 2),
        *(lambda: [_go(), "crash"],),
        later=("signal arrived during cgo execution", 2),
    ),
    Guest("Go, recovered", "recovered 7", 0, lambda: [_go()]),
    Guest(
        *("Go, GOTRACEBACK=crash", "goroutine 1 [syscall]", ABRT),
        *(lambda: ["env", "GOTRACEBACK=crash", _go(), "crash"], ("runtime.raise*",), True),
        later=("goroutine 1 gp=", ABRT),
    ),
    Guest("Rust", "", SEGV, lambda: [_rust()], ("*main*",)),
    Guest(
        *("Rust, a stack that overflows", "has overflowed its stack", ABRT),
        *(lambda: [_rust(), "deep"], ("*deep*", "*deep*"), True),
    ),
]


def _ran(guest: Guest, place: Path, *preloaded: str) -> tuple[int, str, list[Report]]:
    """The status, what the runtime says itself, and the reports."""
    text = place / "report"
    libraries = [*guest.libraries(), *preloaded]
    given = {"LD_PRELOAD": ":".join(libraries), "WHOCALL_CRASH_TEXT": str(text)}
    ran = subprocess.run(
        guest.command(),
        cwd=place,
        env=os.environ | given,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    said = ran.stdout + ran.stderr
    written = place / guest.file if guest.file else None
    if written is not None:
        said = written.read_text(errors="replace")
        written.unlink()
    reports = read_reports(text.read_text(errors="replace")) if text.exists() else []
    return ran.returncode, said, reports


@pytest.mark.parametrize("guest", GUESTS, ids=[guest.name for guest in GUESTS])
def test_a_runtime(guest: Guest, tmp_path: Path) -> None:
    """It says and ends as it does alone; the report is of what crashed, whoever had it first."""
    alone = _ran(guest, tmp_path)
    status, said, reports = _ran(guest, tmp_path, str(PRELOAD))
    (way,) = [way for way in guest.ways if way[0] in alone[1] and way[1] == alone[0]]
    assert status == way[1]
    assert way[0] in said
    assert len(reports) == (1 if guest.names else 0)
    for report in reports:
        assert report.complete
        # Since glibc 2.41 functions of its own stand below those that may be cancelled.
        found = [Path(name) for name in report.names if "syscall_cancel" not in name]
        assert all(one.match(name) for one, name in zip(found, guest.names, strict=False)), found
        assert report.lines[0].startswith(OF_HANDLER) == guest.by_handler


def test_the_table() -> None:
    """docs/crash.md has these rows, and no others."""
    lines = DOCUMENT.read_text().splitlines()
    begin = lines.index("| runtime | says itself | ends by | report |") + 2
    rows = lines[begin : begin + len(GUESTS) + 1]
    assert rows == [*(guest.row() for guest in GUESTS), ""]
