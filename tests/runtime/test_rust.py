"""The bindings for Rust: as the header says, and the example as its documentation."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from runtime.lab import LIBRARIES, NATIVE, crash

RUST = NATIVE.parent / "examples" / "rust"
RUSTC = "/usr/bin/rustc"
HEADER = NATIVE / "runtime" / "whocall.h"
STRUCTURE = re.compile(r"pub struct (\w+) \{\n(.*?)\n\}", re.DOTALL)


def compiled(folder: Path, *words: str | Path) -> None:
    command = [RUSTC, "--edition", "2021", "-O", "-g", "-D", "warnings", *map(str, words)]
    subprocess.run([*command, "-L", str(LIBRARIES)], check=True, cwd=folder)


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the compiled crate."""
    folder = tmp_path_factory.mktemp("rust")
    words = ("--crate-type", "rlib", "--crate-name", "whocall_sys", RUST / "src" / "lib.rs")
    compiled(folder, *words)
    return folder


def compile_with(crate: Path, source: Path) -> Path:
    exe = crate / source.stem
    extern = ("--extern", f"whocall_sys={crate / 'libwhocall_sys.rlib'}")
    compiled(crate, source, *extern, "-C", f"link-arg=-Wl,-rpath,{LIBRARIES}", "-o", exe)
    return exe


def test_structures_and_functions_are_the_header_s(crate: Path) -> None:
    """Sizes and places of fields, as both compilers have them."""
    source = (RUST / "src" / "lib.rs").read_text()
    rust, c = [], []
    for name, body in STRUCTURE.findall(source):
        rust.append(f"    let one = std::mem::MaybeUninit::<whocall_sys::{name}>::uninit();")
        rust.append("    let at = one.as_ptr();")
        rust.append(f'    println!("{{}}", std::mem::size_of::<whocall_sys::{name}>());')
        c.append(f'  printf("%zu\\n", sizeof({name}));')
        for field in re.findall(r"pub (\w+):", body):
            place = f"unsafe {{ std::ptr::addr_of!((*at).{field}) as usize }} - at as usize"
            rust.append(f'    println!("{{}}", {place});')
            c.append(f'  printf("%zu\\n", offsetof({name}, {field}));')
    (crate / "layout.rs").write_text("\n".join(["fn main() {", *rust, "}", ""]))
    lines = [
        "#include <stddef.h>",
        "#include <stdio.h>",
        f'#include "{HEADER}"',
        "int main(void) {",
    ]
    (crate / "told.c").write_text("\n".join([*lines, *c, "}", ""]))
    subprocess.run(["gcc", crate / "told.c", "-o", crate / "told"], check=True)
    programs = (compile_with(crate, crate / "layout.rs"), crate / "told")
    one, other = (
        subprocess.run([each], capture_output=True, text=True, check=True).stdout
        for each in programs
    )
    assert one == other
    assert len(one.split()) == 23
    declared = re.findall(r"^WHOCALL_API [^;(]*?\b(\w+)\(", HEADER.read_text(), re.MULTILINE)
    assert re.findall(r"pub fn (\w+)\(", source) == declared


def test_the_example(crate: Path) -> None:
    exe = compile_with(crate, RUST / "examples" / "caller.rs")
    reports, status, output = crash(exe, preload=False)
    assert (reports, status) == ([], 0)
    by, _, called = output.partition(" called ")  # mangled, by either way
    assert "6caller4main" in by
    assert "6caller4asks" in called
    (report,), status, _ = crash(exe, "crashes", preload=False)
    assert status == -6
    assert "annotation: release = 4.2" in report.lines
    assert [name for name in report.names if "6caller4main" in name]
