"""OCaml's frame tables: lines, inlined calls and names of stripped programs, as the debug info of
the unstripped twin has them.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from oracles.tools import lines, run

from acceptance.helpers.name_twins import stripped
from acceptance.helpers.source_programs import addr2line
from whocall.base.native_module import native

SOURCE = """
let depth = ref 0
let twice f x = f (f x)
let rec visit f = function
  | [] -> 0
  | x :: rest ->
    let here = f x in
    here + visit f rest

let check n =
  if n > 1000 then failwith (Printf.sprintf "too large: %d" n) else List.length (List.init n Fun.id)

module Inner = struct
  let squares l = List.map (fun x -> twice (fun y -> check (abs y)) x) l
  class counter = object
    val mutable kept = []
    method count k = kept <- k :: kept; incr depth; visit (fun x -> check x) [k; k + 1]
  end
end

let () =
  let c = new Inner.counter in
  let all = Inner.squares [1; 2; 3] in
  Printf.printf "%d %d\\n" (c#count (List.length all)) !depth;
  if Array.length Sys.argv > 1 then Gc.compact ()
"""
# gcc's ld warns of functions that a static program looks up in glibc's shared libraries.
STATIC = ["-ccopt", "-static"]


def build(folder: Path, *options: str) -> Path:
    """The unstripped program."""
    (folder / "shop.ml").write_text(SOURCE)
    twin = folder / "twin"
    subprocess.run(
        ["ocamlopt", "-g", *options, "shop.ml", "-o", str(twin)],
        cwd=folder, check=True, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return twin


def returns(twin: Path) -> dict[int, int]:
    """The link addresses behind all calls in OCaml's functions, by objdump, with the one whose line
    is theirs: calls of the collector and those that a bounds check fails with stand behind the
    function, and are of the code that a jump leads back to, or comes from.
    """
    found, jumps, ours, call, begins = {}, {}, False, "", 0
    for line in lines(["objdump", "-d", "--no-show-raw-insn", str(twin)]):
        if head := re.match(r"[0-9a-f]+ <(.*)>:", line):
            ours = head[1].startswith("caml") and head[1][4:5].isupper()
            call = ""
        elif words := re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(\S*)", line):
            address, word, operand = int(words[1], 16), words[2], words[3]
            if call and ours:
                found[address] = address - 1
                if "caml_call_gc" in call:
                    found[address] = int(operand, 16)
                elif "bound_error" in call:
                    found[address] = jumps[begins]
            call, begins = line if word.startswith("call") else "", address
            if word.startswith("j") and re.fullmatch(r"[0-9a-f]+", operand):
                jumps.setdefault(int(operand, 16), address)
    return found


@pytest.mark.parametrize("options", [[], ["-inline", "100"], STATIC], ids=" ".join)
def test_lines_are_those_of_the_debug_info(options: list[str], tmp_path: Path) -> None:
    twin = build(tmp_path, *options)
    table = native.open_symbols(str(stripped(twin)), native.FileSearch())
    asked = returns(twin)
    ours = {address: table.lines_at(address - 1) for address in asked}
    told = {address: places for address, places in ours.items() if places}
    assert len(told) > 1000
    # The rest: calls of C that cannot collect, and polls for signals, which OCaml 5 has more of.
    assert len(told) > 0.5 * len(asked)
    theirs = addr2line(twin, [asked[address] for address in told])
    wrong = []
    for (address, places), expected in zip(told.items(), theirs):
        _, file, line = places[0]
        if (Path(file).name, line) != (Path(expected[0][1]).name, expected[0][2]):
            wrong.append((hex(address), places, expected))
    assert not wrong, (len(wrong), len(told), wrong[:10])


def test_inlined_calls_are_told(tmp_path: Path) -> None:
    twin = build(tmp_path, "-inline", "100")
    table = native.open_symbols(str(stripped(twin)), native.FileSearch())
    chains = [table.lines_at(address - 1) for address in returns(twin)]
    mine = [chain for chain in chains if len(chain) > 1 and chain[-1][1] == "shop.ml"]
    assert mine
    assert {name for chain in mine for name, _, _ in chain[:-1]} >= {"Shop.twice"}


def _is_called(name: str, symbol: str) -> bool:
    """Symbols have the module and the last part of the name; anonymous functions are `fun`,
    operators and methods are spelt in letters, and what was made of a function that ends in a
    constructor is `dps`.
    """
    module, _, rest = name.partition(".")
    last = re.split(r"[.#]", rest.replace(".(fun)", ".fun"))[-1]
    own = re.fullmatch(rf"caml{module}(?:__|\.)(.*?)(?:_dps)?(?:_\d+)?", symbol)
    return own is not None and (own[1] in (last, "fun") or not re.match(r"\w+$", last))


def test_a_static_program_has_names(tmp_path: Path) -> None:
    """Which no symbols tell: `Stdlib__List.map` is camlStdlib__List__map_236, since 5.1
    camlStdlib__List.map_236, of the twin."""
    twin = build(tmp_path, *STATIC)
    truth: dict[int, set[str]] = {}
    for words in map(str.split, run(["nm", str(twin)]).splitlines()):
        if len(words) == 3 and words[1] in "Tt":
            truth.setdefault(int(words[0], 16), set()).add(words[2])
    table = native.functions(str(stripped(twin)))
    rows = [table[at] for at in range(len(table))]
    named = {row[0]: row[2].rstrip("?") for row in rows if re.match(r"[A-Z]\w*\.", row[2])}
    assert len(named) > 500
    wrong = [
        (hex(start), name, truth.get(start))
        for start, name in named.items()
        if not any(_is_called(name, symbol) for symbol in truth.get(start, ()))
    ]
    assert len(wrong) <= 0.01 * len(named), (len(wrong), wrong[:20])
    assert "Stdlib__List.map" in named.values()


def test_programs_of_other_compilers_have_no_tables(tmp_path: Path) -> None:
    """A C program that asks for the same variable."""
    twin = tmp_path / "twin"
    subprocess.run(
        ["gcc", "-static", "-x", "c", "-", "-o", str(twin)], text=True, check=True,
        input='#include <stdlib.h>\nint main(void) { return getenv("OCAMLRUNPARAM") != 0; }',
    )  # fmt: skip
    table = native.functions(str(stripped(twin)))
    sources = {table[at][3] for at in range(len(table))}
    assert "frametable" not in sources
