"""Programs that end by what the variable HOW tells, and say why; or say nothing."""

from __future__ import annotations

C = r"""
#include <assert.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int is(const char *how) { return !strcmp(getenv("HOW"), how); }
static sigjmp_buf place;
static void back(int n) { siglongjmp(place, 1); }
__attribute__((noipa)) void copy(const char *s) { char b[16]; strcpy(b, s); }
__attribute__((noipa)) void smash(int n) {
  char b[16]; for (int i = 0; i < n; i++) ((volatile char *)b)[i] = 'A'; }
/* As the C library's own function that says so. */
__attribute__((noipa)) void die(const char *said) { fprintf(stderr, "%s\n", said); abort(); }
/* The pages where the message is: what a wild pointer would do. */
static void spoil(int n) {
  char line[512]; unsigned long begin, end; char how[8];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx %7s", &begin, &end, how) == 3 && how[1] == 'w' && !strchr(line, '/'))
      for (char *p = (char *)begin; p < (char *)end; p += 4096)
        if (*(unsigned *)p == 4096 && strstr(p + 4, "ssertion `")) memset(p + 4, 'A', 20);
}
int main(int argc, char **argv) {
  if (is("assertion")) assert(argc > 7 && "rows of the ledger");
  if (is("free")) { char *p = malloc(64); free(p + 8); }
  if (is("own words")) die("corrupted size vs. prev_size in the ledger");
  if (is("smashed")) smash(64 * argc);
  if (is("too-long")) copy(getenv("LONG"));
  if (is("spoiled")) { signal(SIGABRT, spoil); assert(argc > 7 && "rows of the ledger"); }
  if (is("survived")) {
    signal(SIGABRT, back);
    if (!sigsetjmp(place, 1)) assert(argc > 7);
    signal(SIGABRT, SIG_DFL);
  }
  abort();
}
"""

CXX = r"""
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>
namespace ledger {
struct missing : std::runtime_error {
  missing(int row) : std::runtime_error("row " + std::to_string(row) + " is missing") {} };
struct own : std::exception {
  std::string held;
  own(int row) : held("no words in " + std::to_string(row)) {}
  const char *what() const noexcept override { return held.c_str(); } };
struct fixed : std::exception {
  const char *what() const noexcept override { return "a fixed text"; } };
struct part { virtual ~part() = default; int row = 7; };
struct second : part, std::logic_error { second() : std::logic_error("of two bases") {} };
struct shared : virtual std::logic_error { shared() : std::logic_error("a virtual base") {} };
}
static void spoil() {
  try { std::rethrow_exception(std::current_exception()); }
  catch (std::exception &e) { memset((void *)e.what(), 0xee, strlen(e.what())); }
  abort();
}
static std::exception_ptr kept(int row) {
  try { throw ledger::missing(row); } catch (...) { return std::current_exception(); }
}
__attribute__((noinline)) void quiet(int row) noexcept { throw ledger::missing(row); }
__attribute__((noinline)) int row(const std::vector<int> &rows, unsigned at) { return rows[at]; }
int main(int argc, char **argv) {
  std::string how = getenv("HOW");
  if (how == "derived") throw ledger::missing(argc + 6);
  if (how == "own") throw ledger::own(argc);
  if (how == "fixed") throw ledger::fixed();
  if (how == "second") throw ledger::second();
  if (how == "shared") throw ledger::shared();
  if (how == "int") throw argc;
  if (how == "at") return std::vector<int>(3).at(argc + 6);
  if (how == "index") return row(std::vector<int>(3), argc + 6);
  if (how == "quiet") quiet(argc + 2);
  if (how == "again") std::rethrow_exception(kept(argc + 8));
  if (how == "inner") { try { throw ledger::missing(1); } catch (...) { throw ledger::fixed(); } }
  if (how == "terminate") std::terminate();
  if (how == "kept") { static auto p = kept(argc); std::terminate(); }
  if (how == "spoiled") { std::set_terminate(spoil); throw std::runtime_error("rows of it"); }
  if (how == "caught") { kept(argc); *(volatile int *)nullptr = 1; }
  if (how == "caught-aborts") { kept(argc); abort(); }
  if (how == "imitates") {
    try { throw ledger::missing(1); }
    catch (std::exception &e) { fputs("  what():  ", stderr); fputs(e.what(), stderr); abort(); }
  }
  if (how == "handles") { try { throw ledger::missing(1); } catch (...) { abort(); } }
}
"""

RUST = r"""
struct Guard(usize);
impl Drop for Guard { fn drop(&mut self) { panic!("dropped with {} open", self.0) } }
#[inline(never)]
fn keep(held: &[usize]) { if held[0] == usize::MAX { println!("{:?}", held.as_ptr()); } }
#[inline(never)]
fn down(at: usize) -> usize {
    let held = [at; 64];
    keep(&held);
    if at == usize::MAX { 0 } else { down(at + 1) + held[at % 64] }
}
fn main() {
    let how = std::env::var("HOW").unwrap();
    let count = std::env::args().count();
    match how.as_str() {
        "index" => println!("{}", vec![1, 2, 3][count + 6]),
        "unwrap" => println!("{}", "12x".parse::<u32>().unwrap()),
        "format" => panic!("row {} of the ledger: {:?}", count + 6, how),
        "literal" => panic!("only a literal"),
        "lines" => assert_eq!(count, 7, "rows of the ledger"),
        "thread" => std::thread::spawn(move || panic!("in thread {}", count)).join().unwrap(),
        "twice" => { let _guard = Guard(count); panic!("the first of two") }
        "caught" => { let _ = std::panic::catch_unwind(|| panic!("caught")); std::process::abort() }
        "deep" => println!("{}", down(count)),
        "faults" => unsafe { *((8 * count) as *mut usize) = count },
        "any" => std::panic::panic_any(count),
        _ => std::process::abort(),
    }
}
"""

GO = r"""
package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

type ledger struct{ rows []int }
type problem struct{ row int }

func (p problem) Error() string { return fmt.Sprintf("problem in row %d", p.row) }

//go:noinline
func (l *ledger) total(n int) int { return l.rows[n] }

func main() {
	switch os.Getenv("HOW") {
	case "index":
		os.Exit((&ledger{make([]int, 3)}).total(len(os.Args) + 6))
	case "text":
		panic(fmt.Sprintf("no row %d", len(os.Args)))
	case "error":
		panic(errors.New("an error value"))
	case "own":
		panic(problem{len(os.Args) + 2})
	case "number":
		panic(len(os.Args) + 41)
	case "maps":
		rows := map[int]int{}
		for i := 0; i < 8; i++ {
			go func() {
				for {
					rows[1]++
				}
			}()
		}
		select {}
	case "unlock":
		var m sync.Mutex
		m.Unlock()
	case "nothing":
		var l *ledger
		os.Exit(len(l.rows))
	}
}
"""


PYTHON = r"""
#include <Python.h>
__attribute__((noinline)) void check(int rows) { if (rows) Py_FatalError("the ledger is broken"); }
int main(int argc, char **argv) {
  if (!strcmp(getenv("HOW"), "early")) check(argc);
  Py_Initialize();
  if (!strcmp(getenv("HOW"), "late")) check(argc);
  if (!strcmp(getenv("HOW"), "state")) { PyEval_SaveThread(); PyThreadState_Get(); }
  abort();
}
"""
