"""Function starts of stripped programs without unwind tables, held against their unstripped twins.

The floors are those of all files together; the table below the results tells what each came to.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from oracles import objdump_table
from oracles.tools import environment

from acceptance.helpers.function_tables import make_unstripped
from acceptance.helpers.scoreboard import Scoreboard
from acceptance.symbol_tables.start_scores import Score, bare_twin, functions_of, score
from whocall.base.native_module import native

# Percent. Three functions of a hundred in these files are reached by nothing: whole archives are
# linked, and nobody calls all of a library.
RECALL_OF_ALL, PRECISION_OF_ALL = 98.0, 99.6
RECALL_OF_EACH, PRECISION_OF_EACH = 92.0, 98.9

_SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
static int by_pointer(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int (*volatile chosen)(const void *, const void *) = by_pointer;
__attribute__((constructor)) static void before(void) { setvbuf(stdout, 0, _IONBF, 0); }
__attribute__((noinline)) static int called(int n) { return n > 1 ? n * called(n - 1) : n; }
int main(int argc, char **argv) {
  int some[3] = {3, called(argc), 1};
  qsort(some, 3, sizeof *some, chosen);
  return printf("%d %s\n", some[0], argv[0]) < 0;
}
"""
_BARE = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]


def test_recall_and_precision(
    tmp_path_factory: pytest.TempPathFactory, scoreboard: Scoreboard
) -> None:
    table = scoreboard.table(
        "Function starts without symbols and unwind tables, percent",
        "file", "functions", "recall", "precision",
    )  # fmt: skip
    directory = tmp_path_factory.mktemp("starts")
    total = Score()
    low = []
    for twin in make_unstripped():
        found = score(twin, bare_twin(twin, directory))
        table.rows.append((twin.name, found.functions, found.recall, found.precision))
        total.add(found)
        if found.recall < RECALL_OF_EACH or found.precision < PRECISION_OF_EACH:
            low.append((twin.name, found.recall, found.precision, found.false))
    table.rows.append(("all", total.functions, total.recall, total.precision))
    assert not low
    assert total.recall >= RECALL_OF_ALL
    assert total.precision >= PRECISION_OF_ALL, total.false.most_common(5)


@pytest.mark.parametrize("flags", [["-O2"], ["-O0"], ["-O2", "-no-pie"], ["-Os", "-m32"]])
def test_each_function_has_its_witness(flags: list[str], tmp_path: Path) -> None:
    source, program = tmp_path / "t.c", tmp_path / "program.elf"
    source.write_text(_SOURCE)
    command = ["gcc", *flags, *_BARE, "-o", str(program), str(source)]
    subprocess.run(command, check=True, env=environment())
    truth, _ = functions_of(program)
    names = {start: name for name, start in _addresses(program).items()}
    bare = bare_twin(program, tmp_path)
    found = {
        names[start]: (end, name, witnesses)
        for start, end, name, _, _, witnesses, _ in native.functions(str(bare))
        if start in names
    }
    expected = {"before": "init-array", "by_pointer": "code-pointer", "called": "call-target",
                "_start": "entry-point", "main": "address-taken"}  # fmt: skip
    for function, witness in expected.items():
        end, name, witnesses = found[function]
        start = _addresses(program)[function]
        if function == "main" and witness not in witnesses:
            witness = "code-pointer"  # i386 code takes it from the global offset table
            assert "-m32" in flags
        assert witness in witnesses, (function, witnesses)
        inferred = {"_start": "_start", "main": "main", "before": "init_array[1]"}
        assert name == inferred.get(function, f"sub_{start:x}")
        if function != "_start":  # on i386 it calls a part of itself
            assert end >= truth[start]


def test_a_jump_out_of_what_a_table_covers_goes_to_a_function(tmp_path: Path) -> None:
    """Hand-written code has no tables; nothing but a tail call tells where it begins."""
    source, program = tmp_path / "t.c", tmp_path / "program.elf"
    source.write_text(
        """
        asm(".text\\n.p2align 4\\nearlier: lea 3(%rdi),%eax\\nret\\n.p2align 4\\n"
            "hand: lea 2(%rdi),%eax\\ncmp $9,%eax\\njne label\\nret\\n.p2align 4\\n"
            "label: lea 1(%rdi),%eax\\nret\\n.skip 256, 0xcc");
        int hand(int);
        __attribute__((noinline)) int chosen(int n) { return hand(n + 1); }
        int main(int argc, char **argv) { (void)argv; return chosen(argc) + 1; }
        """
    )
    subprocess.run(["gcc", "-O2", "-o", str(program), str(source)], check=True, env=environment())
    addresses = _addresses_of_labels(program)
    bare = tmp_path / "bare"
    subprocess.run(["strip", "-o", str(bare), str(program)], check=True, env=environment())
    found = {start: witness for start, _, _, _, _, witness, _ in native.functions(str(bare))}
    assert found[addresses["hand"]] == ["call-target"]
    assert addresses["label"] not in found  # hand's own jump leads there
    hidden = {each[0] for each in native.functions(str(bare_twin(program, tmp_path)))}
    assert addresses["hand"] in hidden  # nothing before it leads there
    assert addresses["label"] not in hidden


def test_what_is_delimited_stays_whole(tmp_path: Path) -> None:
    """No guess and no chance byte cuts what symbols or unwind tables delimit."""
    twin = next(path for path in make_unstripped() if path.name == "libz.elf")
    truth, named = functions_of(twin)
    inside = [
        each[0]
        for each in native.functions(str(twin))
        if each[0] not in named and any(start < each[0] < end for start, end in truth.items())
    ]
    assert truth and not inside


def _addresses(program: Path) -> dict[str, int]:
    table = native.open_symbols(str(program), with_plt=False)
    return {table[at].name: table[at].start for at in range(len(table)) if table[at].named}


def _addresses_of_labels(program: Path) -> dict[str, int]:
    return {each.name: each.address for each in objdump_table.symbols(program)}
