"""Logs that runtimes of languages write: Java's virtual machine, Rust's panics and Go's."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from artifact_cache import Tool, compilers, kept
from oracles.tools import environment

from acceptance.logs.judging import chain, document, judge, within
from acceptance.logs.log_programs import Built, build, halves, ran, resolved, tree


def test_java(tmp_path: Path) -> None:
    """A library crashes a virtual machine, whose log tells at its end only where files lie."""
    built = build("-shared", "-fPIC", "-DLIBRARY", "-fno-omit-frame-pointer", name="libwho.so")
    place = tmp_path / "ran"
    place.mkdir()
    library = shutil.copy(built.stripped, place)
    wanted = tmp_path / "hs_err.log"
    subprocess.run(
        ["java", f"-XX:ErrorFile={wanted}", "-Xshare:dump",
         f"-XX:SharedArchiveFile={tmp_path}/archive"],
        env=environment() | {"LD_PRELOAD": str(library)},
        capture_output=True, check=False, timeout=120, cwd=tmp_path,
    )  # fmt: skip
    shutil.rmtree(place)
    log = wanted.read_text()
    assert "[libwho.so+0x" in log
    symbols = tree(tmp_path, built.debug, "libwho.so.debug")
    found = document(log, "--symbols", symbols)
    assert found["modules"][0]["module"] == f"{place}/libwho.so"
    found["places"] = [each for each in found["places"] if each["line"] > 20]
    judge(found, built.full, "libwho.so", ("deep", "crash"))


RUST = """
#[inline(never)] fn crash(v: &[i32], i: usize) -> i32 { v[i] }
#[inline(never)] fn caller(i: usize) -> i32 { let v = [1, 2, 3]; crash(&v, i) + 1 }
fn main() { println!("{}", caller(std::env::args().count() + 5)); }
"""
RUST_FRAME = re.compile(r"^ *\d+: +(0x\w+) - (.*)$", re.MULTILINE)


def _rust() -> Built:
    def make(place: Path) -> Built:
        (place / "who.rs").write_text(RUST)
        command = ["/usr/bin/rustc", "-O", "-g", "-C", "link-arg=-Wl,--build-id", "who.rs"]
        subprocess.run([*command, "-o", "full"], cwd=place, check=True)
        return halves(place / "full", place / "prog")

    return kept(("logs", RUST, Tool("/usr/bin/rustc"), compilers("gcc")), make)


@pytest.mark.parametrize("named", [True, False])
def test_rust(tmp_path: Path, named: bool) -> None:
    """Nothing tells where the program lay: its return addresses do. The witness is the same
    program with symbols, which names its frames itself, and tells hashes of crates, as no debugger.
    """
    built = _rust()
    log = ran(built, tmp_path / "ran", RUST_BACKTRACE="full")
    assert "crash" not in log.text
    symbols = tree(tmp_path, built.debug, "x.debug")
    program = Path(shutil.copy(built.stripped, symbols / "prog"))
    words = ["--exe", program] if named else []
    found = document(log.text, "--symbols", symbols, *words)
    with_symbols = subprocess.run(
        [built.full], env=environment() | {"RUST_BACKTRACE": "full"}, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    hashes = r"::h[0-9a-f]{16}$|(?<=\w)\[[0-9a-f]{1,16}\]"
    told = [re.sub(hashes, "", name) for _, name in RUST_FRAME.findall(with_symbols.stderr)]
    ours = [name for place in found["places"] for name in _functions(place)]
    assert "who::crash" in ours
    assert ours == [name for name in told if name != "<unknown>"]
    bias = {int(each["address"], 16) - int(each["rva"], 16) for each in within(found, "prog")}
    assert len(bias) == 1
    assert bias.pop() % 4096 == 0


def _functions(place: dict[str, object]) -> list[str]:
    names = [step[0] for step in chain(place)] or [place["function"] or place["told"]]
    return [str(name) for name in names if name]


GO = """
package main

type box struct{ x int }

//go:noinline
func crash(p *box) int { return p.x }

func middle(p *box) int { return crash(p) + 1 }

func main() { println(middle(nil)) }
"""


def _go() -> Built:
    def make(place: Path) -> Built:
        (place / "who.go").write_text(GO)
        variables = {"GO111MODULE": "off", "HOME": str(place), "GOCACHE": str(place / "cache")}
        for name, flags in (("full", ""), ("prog", "-s -w")):
            subprocess.run(
                ["/usr/bin/go", "build", f"-ldflags={flags}", "-o", name, "who.go"],
                cwd=place, env=environment() | variables, check=True,
            )  # fmt: skip
        shutil.rmtree(place / "cache")
        return Built(place / "full", place / "prog", place / "full")

    return kept(("logs", GO, Tool("/usr/bin/go")), make)


def test_go(tmp_path: Path) -> None:
    """Go programs say names and lines themselves, and are the witness."""
    built = _go()
    log = ran(built, tmp_path / "ran", GOTRACEBACK="system")
    symbols = tree(tmp_path, built.stripped, "prog")
    found = document(log.text, "--symbols", symbols, "--exe", symbols / "a" / "b" / "prog")
    places = found["places"]
    assert places[0]["function"] == "main.crash"
    assert not places[0]["is_return_address"]
    frames = re.findall(r"^(\S.*)\(.*\)\n\t(\S+):(\d+)(?: \+0x\w+)? fp=", log.text, re.MULTILINE)
    assert len(frames) > 10
    assert len(frames) == len(places) - 1
    for (name, file, line), place in zip(frames, places[1:]):
        assert place["function"] in (name, f"runtime.go{name}")
        assert (file, int(line)) in [(each["file"], each["line"]) for each in place["source"]]
    text = resolved(log.text, "--exe", symbols / "a" / "b" / "prog").stdout
    changed = [pair for pair in zip(log.text.splitlines(), text.splitlines()) if pair[0] != pair[1]]
    assert len(changed) == 1
    assert changed[0][1].startswith(changed[0][0] + " main.crash+0x")
