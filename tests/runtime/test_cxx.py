"""whocall.hpp: stack traces for C++. The oracle is addr2line, on the addresses that are told."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from runtime.lab import LIBRARIES, NATIVE

SOURCE = Path(__file__).with_name("programs") / "traces.cpp"
INCLUDES = (f"-I{NATIVE}/runtime", f"-I{NATIVE}/runtime/cxx")
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
BUILDS = {
    "gcc": ("g++", "-std=c++17", "-O2", "-g"),
    "gcc, later": ("g++", "-std=c++2b", "-O1", "-g"),
    "gcc, static library": ("g++", "-std=c++17", "-O2", "-g", "static"),
    "clang": ("clang++", "-std=c++17", "-O1", "-g"),
    "clang, later": ("clang++", "-std=c++20", "-O2", "-gdwarf-4"),
    "no debug info": ("g++", "-std=c++20", "-O2"),
}


@pytest.fixture(scope="module", name="programs")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The program by every compiler, with all warnings as errors."""
    folder = tmp_path_factory.mktemp("cxx")
    made = {}
    for name, (compiler, *flags) in BUILDS.items():
        made[name] = folder / re.sub(r"\W", "", name)
        library = ["-L", LIBRARIES, "-lwhocall", f"-Wl,-rpath,{LIBRARIES}"]
        if "static" in flags:
            flags.remove("static")
            library = [LIBRARIES / "libwhocall.a"]
        words = [compiler, *flags, *WARNINGS, *INCLUDES, SOURCE, "-o", made[name]]
        done = subprocess.run([*words, *library], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return made


def _said(program: Path, what: str) -> str:
    return subprocess.run([program, what], capture_output=True, text=True, check=True).stdout


def _frames(program: Path, what: str) -> list[dict[str, Any]]:
    """As JSON, without what the program says behind it."""
    frames: list[dict[str, Any]] = json.loads(_said(program, what).rpartition("]")[0] + "]")
    return frames


def _true_lines(program: Path, offset: int) -> list[tuple[str, str]]:
    """By addr2line: (function, file:line), inlined ones first."""
    command = ["addr2line", "-fiCe", str(program), hex(offset)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    places = [re.sub(r" \(discriminator \d+\)", "", place) for place in shown[1::2]]
    return list(zip(shown[::2], places))


WANTED = {
    "here": ["shop::total(shop::Order)", "void shop::handle<long>(long)", "main"],
    "thrown": ["shop::refuse(int)", "void shop::handle<long>(long)", "main"],
}


@pytest.mark.parametrize("what", WANTED)
@pytest.mark.parametrize("name", BUILDS)
def test_frames(name: str, what: str, programs: dict[str, Path]) -> None:
    program = programs[name]
    frames = _frames(program, what)
    own = [frame for frame in frames if frame["module"] == str(program)]
    called = [frame["function"].removesuffix(" [clone .cold]") for frame in own]
    assert called[:3] == WANTED[what]
    assert frames[: len(WANTED[what])] == own[: len(WANTED[what])]
    for frame in own[:3]:
        told = [(each["function"], f"{each['file']}:{each['line']}") for each in frame["lines"]]
        if name == "no debug info":
            assert told == []
            continue
        true = _true_lines(program, int(frame["offset"], 16) - 1)
        assert [place for _, place in told] == [place for _, place in true]
        plain = [re.sub(r".*\b(\w+)(<.*>)?\(.*|.*\b(\w+)$", r"\1\3", each) for each, _ in told]
        assert all(word in function for word, (function, _) in zip(plain, true))


def _compilers() -> list[Path]:
    """All that this machine has, by version."""
    found = [*Path("/usr/bin").glob("g++-[0-9]*"), *Path("/usr/bin").glob("clang++-[0-9]*")]
    return sorted(path for path in found if re.fullmatch(r"(g|clang)\+\+-\d+", path.name))


@pytest.mark.parametrize("standard", ["c++17", "c++20", "c++2b"])
@pytest.mark.parametrize("compiler", _compilers(), ids=lambda path: path.name)
def test_every_compiler(compiler: Path, standard: str, tmp_path: Path) -> None:
    program = tmp_path / "traces"
    words = [compiler, f"-std={standard}", "-O1", "-g", *WARNINGS, *INCLUDES, SOURCE, "-o", program]
    library = ["-L", LIBRARIES, "-lwhocall", f"-Wl,-rpath,{LIBRARIES}"]
    subprocess.run([*map(str, [*words, *library])], check=True)
    for what, wanted in WANTED.items():
        frames = _frames(program, what)
        assert [frame["function"] for frame in frames[: len(wanted)]] == wanted


@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_text(name: str, programs: dict[str, Path]) -> None:
    lines = _said(programs[name], "text").splitlines()
    assert re.fullmatch(r"#0  in .*look(\(int\))? \[inlined\] at .*traces\.cpp:\d+", lines[0])
    assert re.fullmatch(r"#0  in shop::total\(shop::Order\) at .*traces\.cpp:\d+", lines[1])
    assert re.fullmatch(r"#2  in main at .*traces\.cpp:\d+", lines[3])
    assert any(re.fullmatch(r"entry: .*look.* at .*traces\.cpp:\d+", line) for line in lines)


@pytest.mark.parametrize("name", BUILDS)
def test_as_the_standard_has_it(name: str, programs: dict[str, Path]) -> None:
    """Comparison, hashes, bounds, deep stacks; behind the handler there is no exception."""
    assert _said(programs[name], "rest") == "111110\n"


@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_static_objects_may_ask_at_the_end(name: str, programs: dict[str, Path]) -> None:
    said = _said(programs[name], "exit")
    assert re.search(r"^#0  in Last::~Last\(\) at .*traces\.cpp:\d+$", said, re.MULTILINE)


@pytest.mark.parametrize("what", ["uncaught", "again"])
@pytest.mark.parametrize("name", BUILDS)
def test_what_nobody_caught(name: str, what: str, programs: dict[str, Path]) -> None:
    """Is told with where it was thrown first, and the program aborts."""
    done = subprocess.run([programs[name], what], capture_output=True, text=True, check=False)
    assert done.returncode == -6
    number = 9 if what == "uncaught" else 7
    said = (
        f"an exception was not caught: std::runtime_error: no order {number}\n#0  in shop::refuse"
    )
    assert done.stderr.startswith(said)


PLUGIN = 'extern "C" void plug(void (*call)()) { call(); __asm__ volatile(""); }'
HOST = """
#include <whocall.hpp>
#include <cstdio>
#include <dlfcn.h>
#include <iostream>
static void show() { std::cout << whocall::stacktrace::current(1, 1); }
static void call(const char *file) {
  std::rename(file, "plugin.so");
  void *opened = dlopen("./plugin.so", RTLD_NOW);
  reinterpret_cast<void (*)(void (*)())>(dlsym(opened, "plug"))(show);
  dlclose(opened);
}
int main() { call("first.so"); call("second.so"); call("bare.so"); }
"""


def test_a_library_in_the_place_of_another(tmp_path: Path) -> None:
    """By the same path, at the same address: lines are those of the one that is there, and none
    are told of a library without a build id by what is known of one that had one.
    """
    for name, text, link in (
        ("first", PLUGIN, "sha1"),
        ("second", f"\n\n\n{PLUGIN}", "sha1"),
        ("bare", f"\n\n\n\n\n{PLUGIN}", "none"),
    ):
        (tmp_path / f"{name}.cpp").write_text(text)
        command = ["g++", "-g", "-O1", "-fPIC", "-shared", f"-Wl,--build-id={link}", f"{name}.cpp"]
        subprocess.run([*command, "-o", f"{name}.so"], check=True, cwd=tmp_path)
    words = ["g++", "-std=c++17", "-g", "-x", "c++", "-", *INCLUDES, "-o", "host"]
    words += ["-L", str(LIBRARIES), "-lwhocall", f"-Wl,-rpath,{LIBRARIES}"]
    subprocess.run(words, input=HOST, text=True, check=True, cwd=tmp_path)
    said = subprocess.run(["./host"], capture_output=True, text=True, check=True, cwd=tmp_path)
    places = [line.rpartition("/")[2] for line in said.stdout.splitlines()]
    assert places == ["first.cpp:1", "second.cpp:4", "bare.cpp:6"]


def test_nothing_of_a_name_is_obeyed(tmp_path: Path) -> None:
    """A file whose name would clear the screen."""
    folder = tmp_path / "\x1b[2J\x9bclear\u202e\n"
    folder.mkdir()
    program = folder / "asks"
    source = "#include <whocall.hpp>\n#include <iostream>\n" + (
        "int main() { std::cout << whocall::stacktrace::current(); }"
    )
    words = ["g++", "-std=c++17", "-g", "-x", "c++", "-", *INCLUDES, "-o", str(program)]
    words += ["-L", str(LIBRARIES), "-lwhocall", f"-Wl,-rpath,{LIBRARIES}"]
    subprocess.run(words, input=source, text=True, check=True)
    subprocess.run(["strip", str(program)], check=True)
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert "\x1b" not in said
    assert "\\x1b[2J\\u009bclear\\u202e\\x0a/asks+0x" in said
