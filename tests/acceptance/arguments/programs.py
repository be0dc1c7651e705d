"""Random C programs whose functions hand integers and pointers on, each to the next, until the last
one crashes.
"""

from __future__ import annotations

import random

INTEGERS = ("int", "long", "unsigned", "char", "short", "unsigned long")
TYPES = (*INTEGERS, "const char *", "struct node *", "int *", "void *")
BEGINNING = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define APART __attribute__((noipa_or_noinline))
struct node { struct node *next; int id; long weight; const char *name; };
static struct node nodes[4] = {{&nodes[1], 1, 10, "one"}, {&nodes[2], 2, 20, "two"},
                               {&nodes[3], 3, 30, "three"}, {&nodes[0], 4, 40, "four"}};
volatile int sink;
long table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
APART long mix(long a, long b) { sink = (int)a; return a * 3 + b; }
APART void touch(int *p) { *p += 1; sink = *p; }
APART void fill(char *p, int n, char c) { memset(p, c, n); }
APART void stop(void) { if (sink != 123456789) abort(); }
"""
"""Behind abort() itself later compilers leave out what reads parameters, at -O0 too."""
READS = {
    "const char *": "sink += {}[0];",
    "struct node *": "sink += {}->id;",
    "int *": "sink += *{};",
}
PARTS = {
    "local": "int l0 = {int};",
    "long local": "long m0 = {long};",
    "touched": "touch(&l0);",
    "array": "char buf[32]; fill(buf, 31, 'b'); buf[31] = 0; sink += buf[3];",
    "loop": "for (int i = 0; i < (int)(mix(2, 0) & 3); i++) sink += (int)mix(i, sink);",
    "way out": "if (sink == 123456789) return mix(sink, 2);",
}


class _Body:
    """Statements of one function, and what they can name."""

    def __init__(self, chance: random.Random, parameters: list[str]) -> None:
        self.chance = chance
        self.known = [(f"a{i}", kind) for i, kind in enumerate(parameters)]
        self.lines: list[str] = []

    def _named(self, *kinds: str) -> list[str]:
        return [name for name, kind in self.known if kind in kinds]

    def value(self, kind: str) -> str:
        """Something of this type."""
        same = self._named(kind)
        if same and self.chance.random() < 0.55:
            return self.chance.choice(same)
        if kind in INTEGERS:
            return self._integer()
        nodes = self._named("struct node *")
        of_node = {"const char *": "->name", "struct node *": "->next", "int *": "->id"}.get(kind)
        if nodes and of_node and self.chance.random() < 0.6:
            return ("&" if kind == "int *" else "") + self.chance.choice(nodes) + of_node
        if kind == "const char *":
            return self.chance.choice(['"late"', '"a longer text, with words"', '"x"'])
        if kind == "int *":
            return "&l0" if self._named("int").count("l0") else "&nodes[1].id"
        return f"&nodes[{self.chance.randint(0, 3)}]"

    def _integer(self) -> str:
        one = self.chance.choice(self._named(*INTEGERS) or ["sink"])
        small = self.chance.randint(1, 99)
        forms = [f"{one} + {small}", f"{one} * {small % 7 + 2}", f"{one} - {small}", f"({one} & 7)"]
        forms += [f"(int)mix({one}, {small})", f"table[{small % 8}]", str(small * 977 - 5000)]
        nodes = self._named("struct node *")
        forms += [f"{self.chance.choice(nodes)}->weight"] if nodes else []
        return self.chance.choice(forms)

    def add(self, part: str, odds: float) -> bool:
        """One of PARTS, by so much."""
        if self.chance.random() >= odds:
            return False
        line = PARTS[part]
        for kind in ("int", "long"):
            line = line.replace(f"{{{kind}}}", self.value(kind))
        self.lines.append(line)
        return True


def _function(chance: random.Random, number: int, signatures: list[list[str]]) -> str:
    parameters = signatures[number]
    body = _Body(chance, parameters)
    reads = [
        READS.get(kind, "sink += (int)(long){};").format(f"a{i}")
        for i, kind in enumerate(parameters)
    ]
    chance.shuffle(reads)
    early = chance.randint(0, len(reads))
    if body.add("local", 0.5):
        body.known.append(("l0", "int"))
        body.add("touched", 0.4)
    if body.add("long local", 0.5):
        body.known.append(("m0", "long"))
    body.add("array", 0.3)
    body.lines += reads[:early]
    body.add("loop", 0.3)
    body.add("way out", 0.2)
    if number + 1 == len(signatures):
        body.lines.append(chance.choice(["*(volatile int *)0 = 1;", "stop();"]) + " long res = 0;")
    else:
        callee = f"f{number + 1}"
        if chance.random() < 0.15:
            kinds = ", ".join(signatures[number + 1])
            body.lines.append(f"long (*volatile fp)({kinds}) = {callee};")
            callee = "fp"
        handed = ", ".join(f"({kind})({body.value(kind)})" for kind in signatures[number + 1])
        body.lines.append(f"long res = {callee}({handed});")
    body.lines += reads[early:]
    last = "return res;" if chance.random() < 0.15 else "return res + sink;"
    return f"{_head(number, parameters)} {{ {' '.join([*body.lines, last])} }}\n"


def _head(number: int, parameters: list[str]) -> str:
    declared = ", ".join(f"{kind} a{i}" for i, kind in enumerate(parameters))
    return f"APART long f{number}({declared})"


def source(seed: int, most: int = 6) -> str:
    """A program whose functions have up to so many parameters; the same for the same seed."""
    chance = random.Random(seed)
    count = chance.randint(5, 9)
    signatures = [
        [chance.choice(TYPES) for _ in range(chance.randint(1, most))] for _ in range(count)
    ]
    heads = [_head(number, signatures[number]) + ";\n" for number in range(count)]
    bodies = [_function(chance, number, signatures) for number in range(count)]
    start = _Body(chance, [])
    handed = ", ".join(f"({kind})({start.value(kind)})" for kind in signatures[0])
    main = 'int main(int argc, char **argv) { printf("%d%s\\n", argc, argv[0]); '
    return "".join([BEGINNING, *heads, *bodies, main, f"return (int)f0({handed}); }}\n"])
