"""Real stripped executables and libraries with twins that know all their functions.

The distribution strips what it ships, but three things are left: separate debug files of a few
packages, a few files that it forgot to strip, and the static archives of development packages,
whose members are complete. These are linked whole, as shared libraries that export what the
distribution's own library exports, and as programs.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from oracles import nm_table
from oracles.distribution import only
from oracles.tools import environment, run

from acceptance.helpers.name_twins import build_id_path, debug_file, stripped
from whocall import open_symbols

LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
DEBUG_ROOT = Path("/usr/lib/debug")
LIBRARY, EXECUTABLE = "libraries", "executables"


@dataclass(frozen=True)
class Twins:
    """A stripped file, the file with the true symbols, and a debug directory that serves it."""

    bare: Path
    full: Path
    debug_root: Path


@dataclass(frozen=True)
class RealFile:
    """A file to be judged; `make` builds or finds it in a directory of its own."""

    name: str
    kind: str
    make: Callable[[Path], Twins]


def of_twin(twin: Path) -> Twins:
    """Stripped and served as distributions do it."""
    bare = stripped(twin)
    root = twin.parent / "debug"
    build_id = open_symbols(str(twin)).build_id
    if build_id:
        debug_file(twin, build_id_path(root, build_id))
    return Twins(bare, twin, root)


def installed(path: Path) -> Callable[[Path], Twins]:
    """A file of the distribution, whose debug file the distribution has too."""

    def make(directory: Path) -> Twins:
        del directory
        build_id = open_symbols(str(path)).build_id
        debug = build_id_path(DEBUG_ROOT, build_id)
        assert debug.exists(), f"{path}: its debug file is not installed"
        return Twins(path.resolve(), debug, DEBUG_ROOT)

    return make


def unstripped(path: Path) -> Callable[[Path], Twins]:
    """A file that the distribution has not stripped."""
    return lambda directory: of_twin(Path(shutil.copy(path.resolve(), directory / "twin")))


def _compile(directory: Path, source: str, *words: str, compiler: str = "gcc") -> Twins:
    twin = directory / "twin"
    text = directory / ("main.cc" if compiler.endswith("++") else "main.c")
    text.write_text(source)
    command = [compiler, "-w", "-O2", "-Wl,--build-id", "-o", str(twin), str(text), *words]
    subprocess.run(command, check=True, env=environment(), capture_output=True)
    return of_twin(twin)


def _whole(archives: tuple[Path, ...]) -> list[str]:
    names = [str(each) for each in archives]
    return ["-Wl,--whole-archive", *names, "-Wl,--no-whole-archive"]


def shared(*archives: Path, exports: str = "") -> Callable[[Path], Twins]:
    """A shared library that exports what the one of that name (a pattern) does, or everything."""

    def make(directory: Path) -> Twins:
        words = ["-shared", "-Wl,-Bsymbolic,-z,undefs,-z,notext,--allow-multiple-definition"]
        if exports:
            listed = nm_table.symbols(
                only(LIBRARIES, exports), dynamic=True, types=frozenset("TWiDBRV")
            )
            names = sorted({each.name.partition("@")[0] for each in listed})
            script = directory / "exports"
            script.write_text("{ global: " + "; ".join(names) + "; local: *; };\n")
            words.append(f"-Wl,--version-script={script}")
        return _compile(directory, "", *words, *_whole(archives))

    return make


_TINY_MAIN = "int main(int count, char **words) { return count + (words == 0); }\n"
PYTHON_MAIN = """
int Py_BytesMain(int, char **);
int main(int count, char **words) { return Py_BytesMain(count, words); }
"""


def program(*archives: Path, flags: str = "", source: str = _TINY_MAIN) -> Callable[[Path], Twins]:
    """A program with all of the archives in it; what they lack stays undefined."""
    words = ["-Wl,--unresolved-symbols=ignore-all,--allow-multiple-definition", *flags.split()]
    return lambda directory: _compile(directory, source, *words, *_whole(archives))


def compiled(source: Path, flags: str, compiler: str = "gcc") -> Callable[[Path], Twins]:
    """A program of ours."""

    def make(directory: Path) -> Twins:
        twin = directory / "twin"
        where = ["-I", str(source.parent)]
        words = [*flags.split(), "-w", "-Wl,--build-id", *where, str(source), "-o", str(twin)]
        run([compiler, *words])
        return of_twin(twin)

    return make


_GO_MAIN = r"""
package main

import ("encoding/json"; "fmt"; "os"; "sort")

type shape interface { area() float64 }
type square struct { Side float64 }
func (s *square) area() float64 { return s.Side * s.Side }
func each[T any](list []T, do func(T)) { for _, one := range list { do(one) } }

func main() {
	shapes := []shape{&square{2}, &square{1}}
	sort.Slice(shapes, func(i, j int) bool { return shapes[i].area() < shapes[j].area() })
	each(shapes, func(s shape) { fmt.Println(s.area()) })
	text, err := json.Marshal(shapes)
	if err != nil { panic(err) }
	fmt.Fprintln(os.Stderr, string(text))
}
"""


def go_program(directory: Path) -> Twins:
    """A program of Go's compiler, which has its function table whatever is stripped."""
    source = directory / "main.go"
    source.write_text(_GO_MAIN)
    places = {name: str(directory / name.lower()) for name in ("GOCACHE", "GOPATH")}
    subprocess.run(
        ["/usr/bin/go", "build", "-o", "twin", source.name],
        cwd=directory,
        env=environment() | places | {"CGO_ENABLED": "0", "GO111MODULE": "off"},
        check=True,
        capture_output=True,
    )
    return of_twin(directory / "twin")
