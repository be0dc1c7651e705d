"""Where a null pointer came from: told where the code shows it, and nothing where it does not."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from corpus.crash import crash

from causes.programs import FLAGS, happened

BEGIN = """
#include <stdlib.h>
#include <string.h>
#define FAR __attribute__((noinline, weak))
struct s { long a, b; };
volatile int one = 1;
"""

# Of each program: its source, and what stands behind "the null pointer in REGISTER"; None: nothing.
WAYS: dict[str, tuple[str, str | None]] = {
    "handed through two": (
        """FAR long get(struct s *s) { return s->b; }
        FAR long through(struct s *s) { return get(s) + one; }
        int main(void) { return (int)through(0) + one; }""",
        ", which #0 got from #2, a constant there",
    ),
    "returned": (
        """FAR struct s *find(int n) { return n > 100 ? malloc(8) : 0; }
        FAR long get(int n) { struct s *s = find(n); return s->b; }
        int main(void) { return (int)get(one); }""",
        ", which find returned to #0",
    ),
    "returned and handed over": (
        """FAR struct s *find(int n) { return n > 100 ? malloc(8) : 0; }
        FAR long get(struct s *s) { return s->b; }
        int main(void) { return (int)get(find(one)) + one; }""",
        ", which #0 got from #1, to which find returned it",
    ),
    "returned by a library": (
        """FAR int first(const char *text) { return strchr(text, 'x')[0]; }
        int main(int n, char **words) { (void)n; return first("abc") + words[0][0]; }""",
        ", which strchr returned to #0",
    ),
    "read from a variable": (
        """struct s *volatile head;
        FAR long get(void) { return head->b; }
        int main(void) { return (int)get() + one; }""",
        ", which #0 read from 0xADDRESS of PROGRAM",
    ),
    "read from a list": (
        """struct node { struct node *next; long value; } last = {0, 1}, list = {&last, 2};
        FAR long third(struct node *at) { return at->next->next->value; }
        int main(void) { return (int)third(&list) + one; }""",
        ", which #0 read from memory",
    ),
    "by one of two ways": (
        # So much that gcc 16 does not write it once for each way.
        """#define MUCH one++; one++; one++; one++; one++; one++; one++; one++; one++; one++
        FAR struct s *find(int n) { return n > 100 ? malloc(8) : 0; }
        FAR long get(int n) {
            struct s *s = n > 200 ? calloc(1, 16) : find(n); MUCH; return s->b; }
        int main(void) { return (int)get(one); }""",
        None,
    ),
    "computed": (
        """FAR long get(unsigned long n) { return ((struct s *)(n * 16))->b; }
        int main(void) { return (int)get(one - 1) + one; }""",
        None,
    ),
    "read, and changed since": (
        """struct s *volatile head; struct s other;
        FAR long get(void) { struct s *s = head; head = &other; return s->b; }
        int main(void) { return (int)get() + one; }""",
        ", which #0 read from 0xADDRESS of PROGRAM, where 0xVALUE is now",
    ),
}
COMPILERS = [("gcc", "-O0"), ("gcc", "-O1"), ("gcc", "-O2"), ("clang", "-O0"), ("clang", "-O2")]


def core_by(compiler: str, level: str, source: str, exe: Path) -> Path:
    """The core of a program, which lies beside it."""
    exe.parent.mkdir(parents=True, exist_ok=True)
    command = [compiler, "-xc", "-", *FLAGS, level, "-o", str(exe)]
    subprocess.run(command, input=BEGIN + source, text=True, check=True)
    return crash(exe, exe.parent).core


def origin_in(sentence: str, program: str) -> str | None:
    """What is told behind the register; None without that, or without a register."""
    found = re.search(r"the null pointer in \w+(.*)\.$", sentence)
    if found is None or not found[1]:
        return None
    text = re.sub(r"0x[0-9a-f]+ of " + program, "0xADDRESS of PROGRAM", found[1])
    return re.sub(r"where 0x[0-9a-f]+", "where 0xVALUE", text)


@pytest.mark.parametrize(("compiler", "level"), COMPILERS)
@pytest.mark.parametrize("name", WAYS)
def test_the_way_of_a_null_pointer(name: str, compiler: str, level: str, place: Path) -> None:
    source, wanted = WAYS[name]
    program = re.sub(r"\W", "-", name)
    exe = place / "origins" / f"{program}-{compiler}{level}" / program
    found = happened(core_by(compiler, level, source, exe))
    assert found["facts"][0]["kind"] == "null-access"
    assert origin_in(found["sentence"], program) == wanted


@pytest.mark.parametrize(("compiler", "level"), COMPILERS)
def test_the_way_of_a_null_function_pointer(compiler: str, level: str, place: Path) -> None:
    """What a register held that calls do not preserve is known by who handed it over alone."""
    source = """struct table { long used; int (*open)(int); } table;
        struct table *volatile current = &table;
        FAR int run(struct table *from) { return from->open(1) + one; }
        int main(void) { return run(current) + one; }"""
    exe = place / "origins" / f"call-{compiler}{level}" / "call"
    found = happened(core_by(compiler, level, source, exe))
    assert found["facts"][0]["kind"] == "null-call"
    read = r"0x[0-9a-f]+ of call" if level == "-O0" else "memory"
    text = found["facts"][0]["text"]
    assert re.search(
        rf" called address 0, a null function pointer, which #1 read from {read}$", text
    )


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_call_that_went_on_by_a_jump(compiler: str, place: Path) -> None:
    """It did not call address 0, though its return address is what is left."""
    source = """struct object { int (*next)(struct object *); } last;
        FAR int first(struct object *at) {
            int (*next)(struct object *) = at->next; one++; return next(at); }
        FAR int run(int (*f)(struct object *), struct object *at) { return f(at) + one; }
        int main(void) { return run(first, &last) + one; }"""
    exe = place / "origins" / f"jump-{compiler}" / "jump"
    found = happened(core_by(compiler, "-O2", source, exe))
    assert found["facts"][0]["kind"] == "wild-jump"
    assert found["facts"][0]["text"].startswith("control went to address 0, ")
