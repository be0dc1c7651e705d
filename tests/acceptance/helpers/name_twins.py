"""Stripped files with their names put elsewhere, as distributions do it, and twins to judge by."""

from __future__ import annotations

import lzma
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from artifact_cache import compilers, kept_copy
from oracles import nm_table
from oracles.tools import environment, run

from whocall.base.native_module import native

SOURCE = r"""
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static int __attribute__((noinline))
depth(int left) { return left ? depth(left - 1) + 1 : raise(19); }
static int __attribute__((noinline)) middle(int left) { return depth(left) * 2; }
int exported(int left) { return middle(left) + 1; }
static void __attribute__((constructor)) early(void) { setenv("EARLY", "1", 1); }
static void __attribute__((destructor)) late(void) { unsetenv("EARLY"); }
int main(int count, char **words) { (void)words; return exported(count + 2) + 1; }
"""


def build(directory: Path, *flags: str, source: str = SOURCE, compiler: str = "gcc") -> Path:
    """The unstripped program `twin` with a build id."""
    twin = directory / "twin"
    language = "c++" if compiler.endswith("++") else "c"
    command = [compiler, "-O1", "-g", "-Wl,--build-id", *flags, "-x", language, "-", "-o"]

    def compile_to(file: Path) -> None:
        subprocess.run(
            [*command, str(file)], input=source, text=True, check=True, env=environment()
        )

    if any("/" in flag for flag in flags):  # a file of the test's own
        compile_to(twin)
        return twin
    return kept_copy((command, source, str(Path.cwd()), compilers(compiler)), compile_to, twin)


def stripped(twin: Path, name: str = "bare") -> Path:
    """The twin without .symtab and debug info."""
    bare = twin.with_name(name)
    run(["strip", "-o", str(bare), str(twin)])
    return bare


def debug_file(twin: Path, path: Path) -> Path:
    """What distributions put under /usr/lib/debug."""
    path.parent.mkdir(parents=True, exist_ok=True)
    run(["objcopy", "--only-keep-debug", str(twin), str(path)])
    return path


def build_id_path(root: Path, build_id: str) -> Path:
    """Where the debug file with a build id lies under a debug directory."""
    return root / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"


def add_section(file: Path, name: str, contents: bytes) -> None:
    """Put a section into a file that is not loaded."""
    part = file.with_suffix(".section")
    part.write_bytes(contents)
    run(["objcopy", f"--add-section={name}={part}", str(file)])
    part.unlink()


def mini_debug_info(twin: Path, *, tables: bool = False) -> bytes:
    """The contents of .gnu_debugdata, made as gdb's manual says ("MiniDebugInfo"); with
    .debug_frame as Android has it.
    """
    dynamic = {each.name for each in nm_table.symbols(twin, dynamic=True)}
    wanted = {each.name for each in nm_table.symbols(twin, types=frozenset("tTwWi"))} - dynamic
    keep, mini = twin.with_suffix(".keep"), twin.with_suffix(".mini")
    keep.write_text("".join(f"{name}\n" for name in sorted(wanted)))
    debug_file(twin, mini)
    kept = ["--keep-section=.debug_frame"] if tables else []
    run(["objcopy", "-S", "--remove-section=.gdb_index", "--remove-section=.comment",
         f"--keep-symbols={keep}", *kept, str(mini)])  # fmt: skip
    packed = lzma.compress(mini.read_bytes(), format=lzma.FORMAT_XZ)
    keep.unlink()
    mini.unlink()
    return packed


@dataclass
class Score:
    """How the names of a stripped file agree with its twin's."""

    functions: int = 0  # of the twin
    right: int = 0  # of these: one of its names, and no other, is known
    by_source: dict[str, int] = field(default_factory=dict)
    contradictions: list[str] = field(default_factory=list)

    def share(self) -> float:
        """Of the twin's functions, how many have a true name."""
        return self.right / self.functions if self.functions else 0.0


def score(table: native.SymbolTable | Iterable[tuple[int, str, str]], twin: Path) -> Score:
    """Judge (address, name, source) of every named function but PLT slots by the twin's .symtab."""
    true: dict[int, set[str]] = {}
    for each in nm_table.symbols(twin):
        true.setdefault(each.address, set()).add(each.name.partition("@")[0])
    if isinstance(table, native.SymbolTable):
        symbols = (table[at] for at in range(len(table)))
        found = [(each.start, each.name, each.source) for each in symbols if each.named]
    else:
        found = list(table)
    text = nm_table.symbols(twin, types=frozenset("tTi"))  # W may be data as well
    functions = {each.address for each in text}
    result = Score(functions=len(functions))
    named = set()
    for address, name, source in found:
        if source == "plt":
            continue
        if name in true.get(address, ()):
            result.by_source[source] = result.by_source.get(source, 0) + 1
            named.add(address)
        else:
            result.contradictions.append(f"{address:#x}: {name} ({source})")
    result.right = len(named & functions)
    return result
