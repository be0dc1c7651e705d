"""Small programs that end in different ways, and their cores."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from acceptance.helpers.rust_programs import RUSTC
from artifact_cache import Tool, kept, machine
from corpus.crash import crash

from whocall import Search, open_core
from whocall.base.process_image import Walk
from whocall.report.causes.happened import what_happened

SOURCES = {
    "null-call": """
        __attribute__((noipa)) int call(int (*f)(void)) { return f() + 1; }
        int main(void) { return call(0); }""",
    "wild-call": """
        __attribute__((noipa)) int call(int (*f)(void)) { return f() + 1; }
        int main(void) { return call((int (*)(void))0x10000000); }""",
    "null-access": """
        struct s { int a, b; };
        __attribute__((noipa)) int get(struct s *s) { return s->b; }
        int main(void) { return get(0); }""",
    "read-only": """
        int main(void) { *(volatile char *)"text" = 1; return 0; }""",
    "smashed-return": """
        #include <string.h>
        __attribute__((noipa)) void copy(const char *s) {
            char b[16]; strcpy(b, s); __asm__ volatile("" :: "r"(b) : "memory"); }
        int main(void) { copy("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"); }""",
    "stack-overflow": """
        __attribute__((noipa)) int down(int n) {
            volatile int held[128];
            held[0] = n;
            return down(n + 1) + held[0];
        }
        int main(int c, char **v) { return down(c); }""",
    "assertion": """
        #include <assert.h>
        __attribute__((noipa)) int check(int n) { assert(n > 10 && "rows"); return n; }
        int main(int c, char **v) { return check(c); }""",
    "abort-message": """
        #include <stdlib.h>
        __attribute__((noipa)) void drop(char *p) { free(p); }
        int main(void) { char *p = malloc(100); drop(p); drop(p); return 0; }""",
    "abort": """
        #include <stdlib.h>
        __attribute__((noipa)) void give_up(void) { abort(); }
        int main(void) { give_up(); }""",
    "division": """
        __attribute__((noipa)) int part(int a, int b) { return a / b; }
        int main(int c, char **v) { return part(c, c - 1); }""",
    "trap": """
        int main(void) { __builtin_trap(); }""",
    "sent": """
        #include <signal.h>
        #include <unistd.h>
        int main(void) { if (fork() == 0) { kill(getppid(), SIGSEGV); _exit(0); } pause(); }""",
}

# What a compiler must leave as it is.
FLAGS = ("-O1", "-w", "-U_FORTIFY_SOURCE", "-fno-stack-protector", "-fcf-protection=none")


def compiled(source: str, exe: Path, *more: str) -> Path:
    """The program of a source, with its symbols."""
    exe.parent.mkdir(parents=True, exist_ok=True)
    command = ["gcc", "-xc", "-", *FLAGS, *more, "-o", str(exe)]
    subprocess.run(command, input=source, text=True, check=True)
    return exe


def core_of(source: str, exe: Path, *more: str) -> Path:
    """The core of a program, which lies beside it."""
    return crash(compiled(source, exe, *more), exe.parent).core


def happened(core: Path, search: Search | None = None, exe: Path | None = None) -> dict[str, Any]:
    """What a report says of a core's end."""
    with open_core(str(core), str(exe or ""), search=search or Search()) as image:
        index = image.index_of_crash()
        return what_happened(image, index, image.backtrace(index, Walk(past_main=True)))


GO = """
package main

import (
    "errors"
    "os"
    "runtime"
    "syscall"
)

type ledger struct{ rows []int }

//go:noinline
func (l *ledger) total(n int) int { return l.rows[n] }

func abort() {
    syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(os.Getpid()), uintptr(syscall.Gettid()), 6)
}

//go:noinline
func give_up(how string) {
    if how == "deferred" {
        runtime.LockOSThread()
        defer abort()
    }
    if how == "words" {
        panic("plain <words>")
    }
    panic(errors.New("an error value"))
}

func main() {
    if len(os.Args) > 0 && os.Getenv("HOW") != "index" {
        give_up(os.Getenv("HOW"))
    }
    l := &ledger{rows: make([]int, 3)}
    os.Exit(l.total(len(os.Args) + 6))
}
"""

RUST = """
fn main() {
    let how = std::env::var("HOW").unwrap_or_default();
    let rows = vec![1, 2, 3];
    if how == "index" {
        println!("{}", rows[how.len() + 2]);
    }
    if how == "expect" {
        let nothing: Option<usize> = std::env::args().nth(7).map(|word| word.len());
        println!("{}", nothing.expect("seven words are needed"));
    }
    panic!("only a literal");
}
"""


WAYS = {"go": ("index", "words", "error", "deferred"), "rust": ("index", "expect", "literal")}


def _panics(language: str, place: Path) -> dict[str, Path]:
    exe, source = place / "panics", place / f"panics.{'go' if language == 'go' else 'rs'}"
    source.write_text(GO if language == "go" else RUST)
    command = [RUSTC, "-Cpanic=abort", "-O", "-o", str(exe), str(source)]
    if language == "go":
        command = ["/usr/bin/go", "build", "-ldflags=-s -w", "-o", str(exe), str(source)]
    caches = {"GOCACHE": str(place / "cache"), "HOME": str(place), "CGO_ENABLED": "0"}
    subprocess.run(command, env={"PATH": "/usr/bin:/bin", **caches}, check=True)
    shutil.rmtree(place / "cache", ignore_errors=True)
    cores = {}
    for way in WAYS[language]:
        variables = {"HOW": way, "GOTRACEBACK": "crash"}
        cores[way] = crash(exe, place / way, variables=variables).core
    return cores


def panics(language: str) -> dict[str, Path]:
    """The cores of a program that panics, by WAYS; of Go it is stripped."""
    tools = (Tool("/usr/bin/go"), Tool(RUSTC))
    recipe = ("panics", language, GO, RUST, tools, machine(), WAYS[language])
    return kept(recipe, lambda place: _panics(language, place))
