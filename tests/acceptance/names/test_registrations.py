"""Names under which programs register functions: by tables of records with a text and a function.

In the programs here the function that stands beside "name" is called do_name, so that nm of the
unstripped twin is the oracle; in libraries of a distribution the true name holds the registered
one's words mostly.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from oracles.distribution import python_archive
from oracles.tools import run

from acceptance.helpers import name_twins
from acceptance.names.test_inferred import inferred, true_names

TABLES = r"""
#include <stdio.h>
#include <string.h>
#define DO(name) \
  static int __attribute__((noinline)) do_##name(int x) { return printf(#name "%d", x) * x; }
DO(alpha) DO(beta) DO(gamma) DO(delta) DO(epsilon) DO(zeta) DO(eta) DO(theta) DO(iota) DO(kappa)
DO(lambda) DO(mu) DO(nu) DO(xi) DO(shared) DO(pi) DO(rho) DO(sigma) DO(tau) DO(phi) DO(chi) DO(psi)
DO(ay) DO(be) DO(ce) DO(de)
struct pair { const char *name; int (*run)(int); };
static const struct pair pairs[] = {
  {"alpha", do_alpha}, {"beta", do_beta}, {"gamma", do_gamma}, {"delta", do_delta}, {0, 0}};
struct reversed { int (*run)(int); const char *name; const char *text; };
static const struct reversed reversed[] = {
  {do_epsilon, "epsilon", "The first, with words"}, {do_zeta, "zeta", "Another one, with words"},
  {do_eta, "eta", "The third, with words"}, {do_theta, "theta", "And a last one"}};
struct command { const char *name; int flags; int (*run)(int); const char *help; };
static struct command commands[] = {
  {"iota", 1, do_iota, "Does this."}, {"kappa", 2, do_kappa, "Does that."},
  {"nothing", 3, 0, "Has no function."}, {"lambda", 4, do_lambda, "Does a lot."},
  {"mu", 5, do_mu, "Does little."}, {"[", 6, do_nu, "Has no name."},
  {"one", 7, do_shared, "Shares its function."}, {"two", 8, do_shared, "Shares it too."}};
/* Two texts that may be names. */
struct both { const char *length; const char *width; int (*run)(int); };
static const struct both both[] = {
  {"pi", "ay", do_pi}, {"rho", "be", do_rho}, {"sigma", "ce", do_sigma}, {"tau", "de", do_tau}};
/* Words in a row, and functions in a row. */
static const char *const words[] = {"ay", "be", "ce", "de", "ef", "ge"};
static int (*const functions[])(int) = {do_ay, do_be, do_ce, do_de};
/* Too few to be a table. */
struct other { int (*run)(int); const char *name; long number; };
static struct other few[] = {{do_phi, "phi", 1}, {do_chi, "chi", 2}, {do_psi, "psi", 3}};
int main(int count, char **arguments) {
  int sum = 0;
  for (int i = 0; arguments[1] && i < count; ++i) {
    if (!strcmp(pairs[i].name, arguments[1])) sum += pairs[i].run(i);
    if (!strcmp(reversed[i].name, arguments[1])) sum += reversed[i].run(i) + puts(reversed[i].text);
    if (!strcmp(commands[i].name, arguments[1])) sum += commands[i].run(commands[i].flags++);
    if (!strcmp(both[i].width, arguments[1])) sum += both[i].run(i) + puts(both[i].length);
    if (!strcmp(few[i].name, arguments[1])) sum += few[i].run(i);
    sum += puts(words[i]) + functions[i](i) + do_xi(i);
  }
  return sum;
}
"""
REGISTERED = {
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"),
    *("iota", "kappa", "lambda", "mu"),
}

# Every second text is no name, and functions of other rows are more; one stands elsewhere too.
OPERATORS = r"""
#include <stdio.h>
#include <string.h>
#define DO(name) \
  static int __attribute__((noinline)) do_##name(int x) { return printf(#name "%d", x) * x; }
DO(one) DO(two) DO(three) DO(four) DO(five) DO(add) DO(subtract) DO(multiply) DO(divide) DO(modulo)
DO(print) DO(load) DO(store) DO(move) DO(jump)
struct method { const char *name; int (*run)(int); const char *kinds; long flags; };
static struct method methods[] = {
  {"one", do_one, 0, 0}, {"(+", do_add, 0, 0}, {"two", do_two, 0, 0}, {"(-", do_subtract, 0, 0},
  {"unknown", 0, 0, 0}, {"(*", do_multiply, 0, 0}, {"three", do_three, 0, 0},
  {"(/", do_divide, 0, 0}, {"four", do_four, 0, 0}, {"(%", do_modulo, 0, 0},
  {"five", do_five, 0, 0}, {0, 0, 0, 0}};
struct operation { const char *name; int (*run)(int); };
static struct operation operations[] = {
  {"print", do_print}, {"load", do_load}, {"store", do_store}, {"move", do_move}, {"jump", do_jump},
  {0, 0}};
static int (*usual[])(int) = {do_move, do_move};
int main(int count, char **arguments) {
  int sum = 0;
  for (int i = 0; arguments[1] && i < count; ++i) {
    if (!strcmp(methods[i].name, arguments[1])) sum += methods[i].run(methods[i].flags++);
    if (!strcmp(operations[i].name, arguments[1])) sum += operations[i].run(i);
    sum += usual[i](i);
    operations[i].run = usual[i] = operations[i + 1].run;
  }
  return sum;
}
"""
# Tables in a row, some of which have words that can be read as those of another.
NEIGHBOURS = r"""
#include <stdio.h>
#define DO(name) \
  static int __attribute__((noinline)) do_##name(int x) { return printf(#name "%d", x) * x; }
DO(red) DO(green) DO(blue) DO(white) DO(black) DO(oak) DO(elm) DO(ash) DO(fir)
DO(lion) DO(wolf) DO(bear) DO(deer) DO(hare) DO(north) DO(east) DO(south) DO(west) DO(up)
DO(iron) DO(zinc) DO(gold) DO(lead)
struct last { int (*run)(int); const char *name; };
struct first { const char *name; int (*run)(int); };
struct wide { const char *name; int (*run)(int); const char *text; long number; };
static struct all {
  struct last colours[6];  /* the first has no function */
  struct first trees[5];   /* as far apart as the others, and a text without a function behind it */
  const char *words[3];
  long number;
  struct first metals[5];  /* half as wide as what is behind */
  struct wide animals[6];
  struct last ways[5];
  long end[3];
} all = {
  {{0, "none"}, {do_red, "red"}, {do_green, "green"}, {do_blue, "blue"}, {do_white, "white"},
   {do_black, "black"}},
  {{"oak", do_oak}, {"elm", do_elm}, {"ash", do_ash}, {"fir", do_fir}, {"palm", 0}},
  {"one", "two", "three"},
  5,
  {{"iron", do_iron}, {"zinc", do_zinc}, {"gold", do_gold}, {"lead", do_lead}, {0, 0}},
  {{"lion", do_lion, "A large cat", 1}, {"wolf", do_wolf, "A large dog", 2},
   {"bear", do_bear, "Likes honey", 3}, {"deer", do_deer, "Likes grass", 4},
   {"hare", do_hare, "Likes grass too", 5}, {0, 0, 0, 0}},
  {{do_north, "north"}, {do_east, "east"}, {do_south, "south"}, {do_west, "west"}, {do_up, "up"}},
  {1, 2, 3}};
int main(int count, char **arguments) {
  void *volatile *words = (void *volatile *)&all;
  return ((int (*)(int))words[count + 1])(count) + puts(arguments[0]);
}
"""
OF_OPERATORS = {"one", "two", "three", "four", "five", "print", "load", "store", "jump"}


def registered(twin: Path) -> dict[int, str]:
    """What the stripped twin says, by address."""
    found = inferred(name_twins.stripped(twin))
    return {at: name for at, (name, source) in found.items() if source == "registration"}


def _own_names(twin: Path) -> dict[str, set[str]]:
    """The true names of the program's own functions, by what is said of them."""
    true = true_names(twin)
    return {
        name: true[at]
        for at, name in registered(twin).items()
        if any(each.startswith("do_") for each in true[at])
    }


@pytest.mark.parametrize(
    "flags", ["", "-no-pie", "-static", "-m32", "-O0", "-Wl,-z,pack-relative-relocs"]
)
def test_tables_of_many_forms(flags: str, tmp_path: Path) -> None:
    twin = name_twins.build(tmp_path, *flags.split(), source=TABLES)
    assert _own_names(twin) == {f"registered[{each}]": {f"do_{each}"} for each in REGISTERED}


@pytest.mark.parametrize("flags", ["", "-no-pie", "-m32"])
def test_texts_that_are_no_names_belong_to_rows_as_well(flags: str, tmp_path: Path) -> None:
    """No name is paired with the function of the next row; a function of other tables has none."""
    twin = name_twins.build(tmp_path, *flags.split(), source=OPERATORS)
    assert _own_names(twin) == {f"registered[{each}]": {f"do_{each}"} for each in OF_OPERATORS}


@pytest.mark.parametrize("mode", ["-marm", "-mthumb"])
def test_pointers_with_the_mark_of_a_mode(mode: str, tmp_path: Path) -> None:
    """Those to T32 have bit 0, which the functions' addresses do not have."""
    triple, twin, bare = "arm-linux-gnueabihf", tmp_path / "twin", tmp_path / "bare"
    source = tmp_path / "source.c"
    source.write_text(OPERATORS)
    run([f"{triple}-gcc", "-O1", "-w", mode, "-o", str(twin), str(source)])
    run([f"{triple}-strip", "-o", str(bare), str(twin)])
    true = true_names(twin)
    found = {
        name: {each for each in true[at] | true[at | 1] if each.startswith("do_")}
        for at, (name, kind) in inferred(bare).items()
        if kind == "registration"
    }
    assert found == {f"registered[{each}]": {f"do_{each}"} for each in OF_OPERATORS}


@pytest.mark.parametrize("flags", ["", "-no-pie", "-m32"])
def test_no_table_is_read_with_words_of_its_neighbours(flags: str, tmp_path: Path) -> None:
    """What can be read in two ways has no names; what cannot has its own."""
    found = _own_names(name_twins.build(tmp_path, *flags.split(), source=NEIGHBOURS))
    assert found == {name: {"do_" + name[len("registered[") : -1]} for name in found}
    assert {f"registered[{each}]" for each in ("north", "east", "west")} <= set(found)


def _words(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _agreement(twin: Path) -> tuple[int, int, list[str]]:
    """How many names there are, how many of them the true name holds, and those that begin at no
    function.
    """
    true = true_names(twin)
    found = registered(twin)
    last = {at: re.sub(r"^registered\[(.*)\]$", r"\1", name) for at, name in found.items()}
    held = [
        at
        for at, name in last.items()
        if any(_words(name.split(".")[-1].removeprefix("tp_")) in _words(one) for one in true[at])
    ]
    return len(found), len(held), [name for at, name in last.items() if not true[at]]


def _whole(tmp_path: Path, archive: Path, *more: str) -> Path:
    """All of a static library in a shared one, with its symbols."""
    twin = tmp_path / "twin"
    run(["gcc", "-shared", "-o", str(twin), "-Wl,--whole-archive", str(archive),
         "-Wl,--no-whole-archive", "-Wl,-z,nodelete", *more])  # fmt: skip
    return twin


def _main(tmp_path: Path) -> Path:
    source = tmp_path / "main.c"
    source.write_text("int main(void) { return 0; }")
    return source


def test_lua_registers_its_library(tmp_path: Path) -> None:
    """luaL_Reg: {"byte", str_byte}."""
    archive = Path(run(["gcc", "-print-file-name=liblua5.4.a"]).strip())
    twin = tmp_path / "twin"
    run(["gcc", "-no-pie", "-o", str(twin), "-x", "c", str(_main(tmp_path)), "-x", "none",
         "-Wl,--whole-archive", str(archive), "-Wl,--no-whole-archive", "-lm"])  # fmt: skip
    count, held, astray = _agreement(twin)
    assert astray == []
    assert count >= 100
    assert held / count >= 0.95


def test_python_registers_methods_and_types(tmp_path: Path) -> None:
    """By the name of the type: {"sort", list_sort} in the table of `list`; tp_repr of `list`."""
    twin = _whole(tmp_path, python_archive("-pic"))
    true = true_names(twin)
    found = registered(twin)
    by_name = {name: at for at, name in found.items()}
    for name, function in {
        "list.append": "list_append",
        "list.tp_repr": "list_repr",
        "dict.tp_init": "dict_init",
        "float.hex": "float_hex",
    }.items():
        assert any(one.startswith(function) for one in true[by_name[name]]), name
    count, held, astray = _agreement(twin)
    assert astray == []
    assert count >= 1500
    assert held / count >= 0.8
