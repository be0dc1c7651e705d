"""Programs with hooks whose functions call each other at random, and die deep in a chain."""

from __future__ import annotations

import random

FUNCTIONS = 24
HEAD = """\
#include <alloca.h>
#include <stdlib.h>
#include <string.h>
#define KEEP __attribute__((noinline, noclone))
static volatile long fuel = {fuel}, sink;
#define STEP() do {{ if (--fuel <= 0) abort(); }} while (0)
static int compare(const void* left, const void* right);
"""


def _statement(chance: random.Random, number: int) -> str:
    """Something that a function does; it may call those of higher numbers, and itself."""
    target = chance.randint(number, FUNCTIONS - 1)
    words = ", ".join(f"n + {chance.randint(0, 9)}" for _ in range(9))
    return chance.choice(
        [
            f"if (depth < 40) sum += f{target}(depth + 1, n + {chance.randint(1, 5)});",
            f"for (int i = 0; i < {chance.randint(1, 3)} && depth < 40; ++i)"
            f" sum += f{target}(depth + 1, i);",
            f"{{ char room[{chance.choice([16, 40, 200, 5000])}]; memset(room, n, sizeof room);"
            f" sink += room[n & 7]; if (depth < 40) sum += f{target}(depth + 1, room[1]); }}",
            f"{{ char* room = alloca(16 + (n & 63) * 8); room[0] = 1; sink += room[0];"
            f" if (depth < 40) sum += f{target}(depth + 1, n); }}",
            f"if (depth < 40) sum += table[(n & 7) * 3 % {FUNCTIONS}](depth + 1, n / 2);",
            f"if (depth < 40) sum += many{number % 2}(depth + 1, {words});",
            "{ int items[] = {n, 3, 1, 2}; if (depth < 30) qsort(items, 4, sizeof *items, compare);"
            " sum += items[0]; }",
            "sink += n;",
        ]
    )


def source(seed: int) -> str:
    """A program in C that aborts after a random number of calls."""
    chance = random.Random(seed)
    parts = [HEAD.format(fuel=chance.randint(100, 3000))]
    parts += [f"KEEP long f{number}(int depth, long n);" for number in range(FUNCTIONS)]
    names = ", ".join(f"f{number}" for number in range(FUNCTIONS))
    parts.append(f"static long (*const table[])(int, long) = {{{names}}};")
    for number in (0, 1):
        parameters = ", ".join(f"long a{at}" for at in range(9))
        target = chance.randint(0, FUNCTIONS - 1)
        parts.append(
            f"KEEP long many{number}(int depth, {parameters})"
            f" {{ STEP(); long got = f{target}(depth, a8); return got + a0 + a7; }}"
        )
    parts.append(
        "KEEP static int compare(const void* left, const void* right) { STEP();"
        f" long got = f{FUNCTIONS - 1}(35, 1); sink += got;"
        " return *(const int*)left - *(const int*)right; }"
    )
    for number in range(FUNCTIONS):
        body = " ".join(_statement(chance, number) for _ in range(chance.randint(1, 4)))
        parts.append(
            f"KEEP long f{number}(int depth, long n) {{ long sum = n; STEP(); {body}"
            " return sum + 1; }"
        )
    parts.append("int main(void) { for (;;) sink += f0(0, sink); }")
    return "\n".join(parts) + "\n"
