"""Bombs that are microdumps."""

from __future__ import annotations

from pathlib import Path

from acceptance.bad_input.bombs import Command, bomb


def _written(path: Path, lines: list[str]) -> list[Command]:
    head = ["-----BEGIN BREAKPAD MICRODUMP-----", "O L x86_64 01 x86_64 6.1", f"C {'00' * 1232}"]
    text = "".join(f"F/google-breakpad( 7): {line}\n" for line in [*head, *lines])
    path.write_text(text)
    return [["bt", str(path)], ["unpack", str(path), "-o", str(path.with_name("made.core"))]]


@bomb("microdump")
def stacks_without_end(folder: Path) -> list[Command]:
    """400,000 lines of stack, of the same address."""
    return _written(folder / "stacks.txt", [f"S 7FFF0000 {'41' * 64}"] * 400_000)


@bomb("microdump")
def modules_without_end(folder: Path) -> list[Command]:
    """200,000 modules."""
    rows = [f"M {at * 4096:X} 0 1000 {'0' * 33} lib.so" for at in range(16, 200_000)]
    return _written(folder / "modules.txt", rows)


@bomb("microdump")
def marks_without_end(folder: Path) -> list[Command]:
    """A million beginnings, and a line without an end."""
    marks = ["-----BEGIN BREAKPAD MICRODUMP-----"] * 1_000_000
    return _written(folder / "marks.txt", [*marks, "S 0 " + "0" * (1 << 24)])


@bomb("microdump")
def names_of_megabytes(folder: Path) -> list[Command]:
    """A module whose name has 32 MB, and one of as many words."""
    rows = [
        f"M 10000 0 1000 {'0' * 33} " + "n" * (32 << 20),
        f"M 20000 0 1000 {'0' * 33} " + "n " * (16 << 20),
    ]
    return _written(folder / "names.txt", rows)


@bomb("microdump")
def stacks_apart(folder: Path) -> list[Command]:
    """400,000 pieces of stack that lie a terabyte apart, or go on beyond the last address."""
    rows = [f"S {at << 40 & 2**64 - 1 | 0xFFF8:X} {'41' * 32}" for at in range(1, 400_000)]
    return _written(folder / "apart.txt", [*rows, f"S {2**64 - 8:X} {'41' * 64}"])
