"""A program of a hundred and twenty functions in several builds, and who names them by another."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterable
from pathlib import Path

from artifact_cache import compilers, kept_copy
from oracles.tools import environment

from acceptance.helpers.name_twins import stripped
from acceptance.name_files.signature_programs import Tally, found_names, true_names

FUNCTIONS = 120
STARTUP = frozenset(
    {"_start", "_init", "_fini", "main", "deregister_tm_clones", "register_tm_clones"}
    | {"__do_global_dtors_aux", "frame_dummy", "_dl_relocate_static_pie"}
)  # of the startup files, or named without other builds


def function_text(number: int, *, changed: bool) -> str:
    """A function of no other's shape, which calls three later ones; changed, it does more."""
    chance = random.Random(number)
    lines = [f"  long sum = a * {chance.randrange(3, 9999)} + b;"]
    for _ in range(chance.randrange(2, 7)):
        kind = chance.randrange(4)
        constant = chance.randrange(3, 9999)
        if kind == 0:
            lines.append(f"  for (long i = 0; i < (b & {constant}); i++) sum += i ^ {constant};")
        elif kind == 1:
            lines.append(f'  if (sum > {constant}) printf("text {number} {constant} %ld\\n", sum);')
        elif kind == 2:
            lines.append(f"  table[{number}] = sum; sum ^= table[(sum + {constant}) & 255];")
        else:
            lines.append(f"  switch (sum & 7) {{ case 1: sum += {constant}; break; case 3: "
                         f"sum -= b; break; case 5: sum *= {constant}; }}")  # fmt: skip
    if changed:
        lines.append(f'  if (sum == {number} + b) {{ puts("changed"); sum += table[1]; }}')
    for _ in range(3):
        if number + 1 < FUNCTIONS:
            callee = chance.randrange(number + 1, min(number + 12, FUNCTIONS))
            lines.append(f"  sum += part_{callee}(sum, a);")
    return "\n".join(
        [f"{LINKAGE} long part_{number}(long a, long b) {{", *lines, "  return sum;", "}"]
    )


LINKAGE = "static __attribute__((noinline, noclone, used))"


def source(changed: Iterable[int] = (), absent: Iterable[int] = (), added: int = 0) -> str:
    """The program: functions of these numbers changed, those made small, and so many new ones."""
    changed, absent = set(changed), set(absent)
    parts = ["#include <stdio.h>", "long table[256];"]
    parts += [f"{LINKAGE} long part_{number}(long a, long b);" for number in range(FUNCTIONS)]
    for number in range(FUNCTIONS):
        if number in absent:
            parts.append(f"{LINKAGE} long part_{number}(long a, long b) {{ return a; }}")
        else:
            parts.append(function_text(number, changed=number in changed))
        if added and number % (FUNCTIONS // added) == 1:
            body = function_text(5000 + number, changed=False)
            parts.append(body.replace(f"part_{5000 + number}", f"added_{number}"))
    parts.append("int main(int n, char **w) { (void)w; return (int)part_0(n, n + 1); }")
    return "\n".join(parts)


def build(directory: Path, name: str, text: str, *flags: str, compiler: str = "gcc") -> Path:
    """The unstripped program `name`, with a build id."""
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / name
    language = "c++" if compiler.endswith("++") else "c"
    command = [compiler, "-w", "-Wl,--build-id", *flags, "-x", language, "-", "-o"]

    def compile_to(path: Path) -> None:
        subprocess.run([*command, str(path)], input=text, text=True, check=True, env=environment())

    return kept_copy((command, text, compilers(compiler)), compile_to, file)


def judge(twin: Path, signatures: Path) -> Tally:
    """All functions of the program that its own symbols name and nothing else does."""
    true = {at: names for at, names in true_names(twin).items() if not names & STARTUP}
    found = found_names(stripped(twin, f"{twin.name}.bare"), [signatures])
    wrong = [
        f"{address:#x}: {name}, in truth {sorted(true.get(address, ()))}"
        for address, name in found.items()
        if name not in true.get(address, ()) and name not in STARTUP
    ]
    return Tally(len(true), sum(at in true for at in found) - len(wrong), wrong)
