"""Rust programs that panic, in both mangling schemes, as release builds are made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from oracles.tools import run

from acceptance.helpers.real_files import Twins, of_twin

RUSTC = "/usr/bin/rustc"
SOURCE = r"""
use std::collections::BTreeMap;
use std::fmt::Display;

mod shapes {
    pub trait Shape { fn area(&self, depth: u32) -> u64; }
    pub struct Square(pub u64);
    pub struct Pair<T>(pub T, pub T);
    impl Shape for Square {
        #[inline(never)]
        fn area(&self, depth: u32) -> u64 {
            if depth == 0 { fail(self.0) } else { self.area(depth - 1) + self.0 }
        }
    }
    impl<T: Shape> Shape for Pair<T> {
        #[inline(never)]
        fn area(&self, depth: u32) -> u64 { self.0.area(depth) + self.1.area(depth) + 1 }
    }
    #[inline(never)]
    fn fail(side: u64) -> u64 {
        let sides: Vec<u64> = (0..side).collect();
        sides[std::env::args().count() + side as usize]
    }
}
use shapes::{Pair, Shape, Square};

#[inline(never)]
fn apply<F: Fn(u64) -> u64>(function: F, value: u64) -> u64 { function(value) + 1 }

#[inline(never)]
fn through<T: Display>(shape: &dyn Shape, label: T) -> u64 {
    let text = label.to_string();
    let outer = text.len() as u64;
    let sum = apply(#[inline(never)] |inner| shape.area(2) + inner + outer, 5);
    sum + text.len() as u64
}

#[cfg(hooked)]
fn die_in_the_hook() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| { default(info); std::process::abort(); }));
}
#[cfg(not(hooked))]
fn die_in_the_hook() {}

fn main() {
    die_in_the_hook();
    let mut shapes: BTreeMap<&str, Box<dyn Shape>> = BTreeMap::new();
    shapes.insert("pair", Box::new(Pair(Square(2), Square(3))));
    let mut total = 0;
    for (name, shape) in &shapes { total += through(shape.as_ref(), name); }
    println!("{}", total);
}
"""


def build(directory: Path, mangling: str, panic: str, *more: str) -> Path:
    """The unstripped program `twin`, which ends with SIGABRT.

    Unwinding, it would leave by itself: its panic hook prints what the default hook does, and dies.
    """
    source = directory / "panics.rs"
    source.write_text(SOURCE)
    twin = directory / "twin"
    flags = ["-O", "-C", f"panic={panic}", "-C", "codegen-units=1",
             "-C", "link-arg=-Wl,--build-id", *more]  # fmt: skip
    if panic == "unwind":
        flags += ["--cfg", "hooked"]
    if mangling != "legacy":  # which is this compiler's own, and no flag of its stable options
        flags += ["-C", f"symbol-mangling-version={mangling}"]
    run([RUSTC, "--edition=2021", *flags, "-o", str(twin), str(source)])
    return twin


def twins(mangling: str, panic: str) -> Callable[[Path], Twins]:
    """Stripped as release builds are."""
    return lambda directory: of_twin(build(directory, mangling, panic))
