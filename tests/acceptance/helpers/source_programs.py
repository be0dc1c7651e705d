"""Small programs with debug info of every form, and what gdb and addr2line say of them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from oracles.tools import environment

Chain = list[tuple[str, str, int]]
"""(function, last part of the file, line), innermost inlined call first."""

INLINED = """
#include <string>
#include <vector>
volatile int v;
namespace ns {
static inline int deep(int x) { v = x; return x * v; }
struct S { std::vector<int> a; int put(int x) { a.push_back(deep(x)); return (int)a.size(); } };
inline int two(int x) {
  S s;
  int r = 0;
  for (int i = 0; i < x; ++i) {
    int k = deep(i);
    r += s.put(k);
  }
  return r;
}
}
int main(int c, char **w) {
  std::string t(w[0]);
  auto f = [&](int k) { return ns::two(k) + (int)t.size(); };
  return f(c) + ns::two(v);
}
"""

_HEADER = """
__attribute__((%s,unused)) static int %s(int c)
{
  v = c;
  return c * 3 + v;
}
"""

_MAIN = """
volatile int v;
#include "here.h"
#include "inc/there.h"
#include "up.h"
int main(int c, char **w) { v = c; return here(c) + there(c) + up(c); }
"""

LAYOUTS = ("below", "absolute", "beside", "relative directory", "relative directory, below")


def run(*command: str | Path, cwd: Path | None = None, text: str = "") -> str:
    """What a tool prints."""
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, input=text, text=True, check=True,
        stdout=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    return done.stdout


def in_folders(place: Path, compiler: str, version: int, layout: str) -> Path:
    """A program of four files in three folders, compiled from one of them."""
    sub = place / "sub"
    (sub / "inc").mkdir(parents=True, exist_ok=True)
    noinline = "noipa" if compiler == "gcc" else "noinline"
    for name, path in (("here", sub), ("there", sub / "inc"), ("up", place)):
        (path / f"{name}.h").write_text(_HEADER % (noinline, name), encoding="utf-8")
    (sub / "a.c").write_text(_MAIN, encoding="utf-8")
    folder, source, *flags = {
        "below": (place, "sub/a.c", "-I."),
        "absolute": (place, str(sub / "a.c"), "-I."),
        "beside": (sub, "a.c", "-I.."),
        "relative directory": (sub, "a.c", "-I..", f"-fdebug-prefix-map={sub}=./build"),
        "relative directory, below": (
            place, "sub/a.c", "-I.", f"-fdebug-prefix-map={place}=./build",
        ),
    }[layout]  # fmt: skip
    made = place / "program"
    run(compiler, "-w", "-O1", f"-gdwarf-{version}", *flags, source, "-o", made, cwd=folder)
    return made


def inlined(place: Path, compiler: str, *flags: str, name: str = "program") -> Path:
    """C++ with calls inlined several levels deep."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "inlined.cc").write_text(INLINED, encoding="utf-8")
    run(compiler, "-O2", *flags, "inlined.cc", "-o", name, cwd=place)
    return place / name


@dataclass(frozen=True)
class Line:
    """What gdb's `info line` says; an empty file where it knows none."""

    file: str
    line: int


_LINE = re.compile(r'Line (\d+) of "(.*)"')


def gdb_lines(questions: Iterable[tuple[Path, Iterable[int]]], *first: str) -> list[Line]:
    """One session of gdb for all files and addresses."""
    commands = ["set debuginfod enabled off", "set width 0", *first]
    for path, addresses in questions:
        commands.append(f"file {path}")
        commands += [f"info line *{address:#x}" for address in addresses]
    words = [word for command in commands for word in ("-ex", command)]
    said = run("gdb", "-nx", "-q", "-batch", *words)
    found = []
    for line in said.splitlines():
        match = _LINE.match(line)
        if match is not None:
            found.append(Line(match.group(2), int(match.group(1))))
        elif line.startswith("No line number information"):
            found.append(Line("", 0))
    return found


def addr2line(path: Path, addresses: list[int]) -> list[Chain]:
    """libbfd's answers, mangled names, one chain for each address."""
    text = "".join(f"{address:#x}\n" for address in addresses)
    said = run("addr2line", "-a", "-i", "-f", "-s", "-e", path, text=text)
    chains: list[Chain] = []
    lines = iter(said.splitlines())
    for line in lines:
        if line.startswith("0x"):
            chains.append([])
            continue
        file, _, number = next(lines).partition(" ")[0].rpartition(":")
        chains[-1].append((line, file, int(number) if number.isdigit() else 0))
    return chains
